"""XML and the formats written in it."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="xml",
    extensions=(
        ".xml",
        ".xsd",
        ".xsl",
        ".xslt",
        ".wsdl",
        ".csproj",
        ".fsproj",
        ".vbproj",
        ".vcxproj",
        ".nuspec",
        ".props",
        ".targets",
        ".pom",
        ".plist",
        ".xaml",
        ".axaml",
        ".resx",
        ".storyboard",
        ".xib",
        ".rss",
        ".atom",
    ),
    filenames=("nuget.config", "NuGet.Config", "packages.config", "web.config", "app.config"),
    grammar="tree_sitter_xml:language_xml",
)
