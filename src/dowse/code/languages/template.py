"""Template languages: Jinja, ERB, Handlebars, Mustache, EJS, Liquid and Go templates."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="template",
    extensions=(
        ".j2",
        ".jinja",
        ".jinja2",
        ".erb",
        ".eex",
        ".heex",
        ".leex",
        ".hbs",
        ".handlebars",
        ".mustache",
        ".ejs",
        ".liquid",
        ".tmpl",
        ".tpl",
        ".gotmpl",
        ".njk",
        ".twig",
    ),
    aliases=("templates",),
)
