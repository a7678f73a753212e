"""Default exclude list: build output, dependencies, lock files, binaries and minified files that are not indexed.

A name alone is enough only where nobody calls a source folder so. ``build``, ``dist``, ``out``, ``target``, ``bin`` and
``obj`` count as output only beside the manifest of the tool that writes them, and never with an ``__init__.py`` inside.
In doubt a folder is indexed.
"""

from __future__ import annotations

from collections.abc import Collection

from dowse.types.discovered import SkipReason

# Never walked, whatever anyone asks for: the insides of tools.
NEVER_FOLDERS = {
    ".git": "version control",
    ".hg": "version control",
    ".svn": "version control",
    ".bzr": "version control",
    ".jj": "version control",
    ".sl": "version control",
    "_darcs": "version control",
    "CVS": "version control",
    ".dowse": "the index itself",
}

NEVER_FILES = {".git": "version control"}  # what a worktree or a submodule has instead of the folder

_SKIPPED_FOLDERS = {
    ".venv": "virtual environment",
    "node_modules": "installed packages",
    "bower_components": "installed packages",
    "jspm_packages": "installed packages",
    ".yarn": "installed packages",
    ".pnpm-store": "installed packages",
    ".bundle": "installed packages",
    ".eggs": "installed packages",
    "__pypackages__": "installed packages",
    "__pycache__": "compiled code",
    ".mypy_cache": "cache",
    ".pytest_cache": "cache",
    ".ruff_cache": "cache",
    ".hypothesis": "cache",
    ".ipynb_checkpoints": "cache",
    ".cache": "cache",
    ".parcel-cache": "cache",
    ".turbo": "cache",
    ".angular": "cache",
    ".sass-cache": "cache",
    ".ccls-cache": "cache",
    ".clangd": "cache",
    ".gradle": "cache",
    ".terraform": "downloaded providers and modules",
    ".terragrunt-cache": "cache",
    ".tox": "test environments",
    ".nox": "test environments",
    ".next": "build output",
    ".nuxt": "build output",
    ".svelte-kit": "build output",
    ".aws-sam": "build output",
    ".serverless": "build output",
    ".dart_tool": "build output",
    ".stack-work": "build output",
    "dist-newstyle": "build output",
    "elm-stuff": "build output",
    "zig-out": "build output",
    ".zig-cache": "cache",
    "zig-cache": "cache",
    ".nyc_output": "coverage report",
    "htmlcov": "coverage report",
    ".idea": "editor state",
    ".vs": "editor state",
    ".fleet": "editor state",
}

_JVM_BUILDS = ("pom.xml", "build.gradle", "build.gradle.kts", "build.sbt", "project.clj")
_DOTNET_PROJECTS = (".csproj", ".fsproj", ".vbproj")

# Output folders: the name, and what must stand beside it (a full name or the end of one).
# "build" beside package.json is not here: it is as often the folder of the build scripts. Nor is "dist"
# beside pyproject.toml: what Python puts there are archives, which are skipped one by one.
_OUTPUT_FOLDERS: dict[str, tuple[str, ...]] = {
    "target": ("Cargo.toml", *_JVM_BUILDS),
    "build": ("build.gradle", "build.gradle.kts", "pubspec.yaml"),
    "dist": ("package.json",),
    "out": ("tsconfig.json", "next.config.js", "next.config.mjs", "next.config.ts"),
    "bin": _DOTNET_PROJECTS,
    "obj": _DOTNET_PROJECTS,
    "_build": ("mix.exs", "dune-project", "rebar.config"),
    "deps": ("mix.exs",),
    "Pods": ("Podfile",),
    "DerivedData": (".xcodeproj", ".xcworkspace"),
}

# Entries that show what a folder is, whatever its name.
_FOLDER_MARKERS = {
    "pyvenv.cfg": "virtual environment",
    "conda-meta": "virtual environment",
    "CACHEDIR.TAG": "cache",
    "CMakeCache.txt": "build output",
    "meson-info": "build output",
    ".ninja_log": "build output",
}

# setuptools writes these into build/, and nothing else does.
_SETUPTOOLS_BUILD = ("bdist.", "lib.", "temp.")

_PYTHON_PACKAGE = "__init__.py"

_LOCK_FILES = frozenset({
    "bun.lock", "cargo.lock", "cartfile.resolved", "composer.lock", "conan.lock", "conda-lock.yml",
    "deno.lock", "flake.lock", "gemfile.lock", "go.sum", "go.work.sum", "gradle.lockfile", "mix.lock",
    "npm-shrinkwrap.json", "package-lock.json", "package.resolved", "packages.lock.json", "pdm.lock",
    "pipfile.lock", "pixi.lock", "pnpm-lock.yaml", "podfile.lock", "poetry.lock", "pubspec.lock",
    "pylock.toml", "rebar.lock", "shard.lock", "stack.yaml.lock", "uv.lock", "yarn.lock",
    ".terraform.lock.hcl",
})  # fmt: skip

# How 'dowse eval --mine' calls its files: queries with their answers would be the best hit for each of these.
_MINED_PREFIX = "dowse-truth-"

# ".map" alone is also the ending of linker scripts and game levels.
_MINIFIED_ENDINGS = (
    ".min.js", ".min.mjs", ".min.cjs", ".min.css", "-min.js", "-min.css", ".bundle.js", ".bundle.mjs",
    ".bundle.css", ".chunk.js", ".chunk.css", ".js.map", ".mjs.map", ".cjs.map", ".css.map", ".ts.map",
    ".mts.map", ".cts.map", ".jsx.map", ".tsx.map",
)  # fmt: skip

# Formats that are never text: not worth opening. Endings that text has too (.dat, .doc, .hi, .key, .lib, .mo,
# .obj, .pb, .pch, .pdb, .pt, .pth, .snap) are decided by their content.
_BINARY_EXTENSIONS = frozenset({
    # images
    "png", "jpg", "jpeg", "gif", "bmp", "ico", "cur", "icns", "tif", "tiff", "webp", "avif", "heic",
    "heif", "psd", "xcf", "sketch", "jp2", "jxl", "exr", "tga", "dds", "ktx",
    # archives
    "zip", "gz", "tgz", "bz2", "tbz2", "xz", "txz", "zst", "lz", "lz4", "lzma", "7z", "rar", "tar",
    "cab", "iso", "dmg", "deb", "rpm", "apk", "aab", "ipa", "msi",
    # packages
    "jar", "war", "ear", "aar", "whl", "egg", "gem", "nupkg", "snupkg", "crate", "vsix", "xpi", "crx",
    "phar",
    # fonts
    "ttf", "otf", "woff", "woff2", "eot", "ttc", "pfb",
    # sound and film
    "mp3", "mp4", "m4a", "m4v", "wav", "flac", "ogg", "oga", "ogv", "opus", "aac", "wma", "avi", "mov",
    "mkv", "webm", "wmv", "flv", "mpg", "mpeg", "aif", "aiff", "mid", "midi", "swf",
    # documents
    "pdf", "docx", "xlsx", "xlsm", "xls", "pptx", "ppt", "odt", "ods", "odp", "epub", "mobi", "pages",
    "numbers", "vsd", "vsdx",
    # compiled code
    "o", "a", "so", "dylib", "dll", "exe", "ilk", "class", "pyc", "pyo", "pyd", "wasm", "node", "beam",
    "rlib", "rmeta", "dex", "elc", "dyn_o", "cmi", "cmo", "cmx", "cmxa", "cma", "cmt", "cmti", "gch",
    # data and models
    "npy", "npz", "pkl", "pickle", "joblib", "h5", "hdf5", "parquet", "feather", "arrow", "orc", "onnx",
    "tflite", "safetensors", "ckpt", "gguf", "ggml", "keras",
    # databases
    "sqlite", "sqlite3", "db3", "mdb", "accdb", "ldb", "rdb", "rds", "rdata", "sas7bdat",
    # keys and scenes
    "p12", "pfx", "jks", "keystore", "gpg", "lockb", "blend", "fbx", "glb", "3ds", "unitypackage",
    "uasset", "pack",
})  # fmt: skip


def check_folder_name(name: str) -> str:
    """Return why a folder is skipped for its name alone, or an empty string."""
    if name.endswith((".egg-info", ".dist-info")):
        return "package metadata"
    return _SKIPPED_FOLDERS.get(name, "")


_GENERATED_DOCS = {
    "javadoc": (
        ("allclasses-index.html", "help-doc.html"),
        ("allclasses-frame.html", "help-doc.html"),
        ("allclasses-index.html", "overview-tree.html"),
        ("allclasses-noframe.html", "index-all.html"),
        ("element-list", "index-all.html"),
        ("package-list", "index-all.html"),
    ),
    "doxygen": (("doxygen.css", "index.html"),),
    "sphinx": (("objects.inv", "searchindex.js"),),
    "rustdoc": (
        ("search-index.js", "static.files"),
        ("search.index", "static.files"),
        ("rustdoc.css", "search-index.js"),
    ),
    "typedoc": (("assets", "modules.html", "index.html"), ("assets", "hierarchy.html", "index.html")),
    "dokka": (("navigation.html", "package-list"),),
    "yard": (("_index.html", "class_list.html", "method_list.html"),),
    "ex_doc": (("api-reference.html", "search.html", "dist"),),
}
"""By tool, sets of files that it writes at the top of the documentation that it makes of code: thousands of pages that
say again what the code says."""

_PROSE_SOURCES = (".md", ".mdx", ".rst", ".adoc")
"""Endings of documentation that somebody wrote: a folder with such files is not only a tool's output."""


def _find_docs_tool(inside: Collection[str]) -> str:
    """Find the tool that made a folder of documentation from code, by the files that it writes there."""
    for tool, signs in _GENERATED_DOCS.items():
        if any(all(map(inside.__contains__, sign)) for sign in signs):
            return "" if any(name.lower().endswith(_PROSE_SOURCES) for name in inside) else tool
    return ""


def check_folder_entries(name: str, inside: Collection[str], beside: Collection[str]) -> str:
    """Return why a folder is skipped, given the names in it and beside it, or an empty string."""
    if _PYTHON_PACKAGE in inside:
        return ""
    for marker, reason in _FOLDER_MARKERS.items():
        if marker in inside:
            return f"{reason}: it holds {marker}"
    if name == "venv":
        return "virtual environment"
    if tool := _find_docs_tool(inside):
        return f"documentation generated by {tool}"
    if name == "build" and any(entry.startswith(_SETUPTOOLS_BUILD) for entry in inside):
        return "build output of setuptools"
    tools = _OUTPUT_FOLDERS.get(name)
    if tools and (found := next((entry for entry in beside if entry.endswith(tools)), None)):
        return f"build output: it stands beside {found}"
    return ""


def check_file_name(name: str) -> tuple[SkipReason, str] | None:
    """Return why a file is skipped for its name, or None."""
    lower = name.lower()
    if lower in _LOCK_FILES:
        return SkipReason.DEFAULT_EXCLUDED, "lock file"
    if lower.startswith(_MINED_PREFIX):
        return SkipReason.DEFAULT_EXCLUDED, "queries of an evaluation"
    if lower.endswith(_MINIFIED_ENDINGS):
        ending = next(e for e in _MINIFIED_ENDINGS if lower.endswith(e))
        return SkipReason.MINIFIED, f"by its ending {ending}"
    _, dot, extension = lower.rpartition(".")
    if dot and extension in _BINARY_EXTENSIONS:
        return SkipReason.BINARY, f"by its ending .{extension}"
    return None
