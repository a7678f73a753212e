"""Bash and the shells that read nearly the same language."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="bash",
    extensions=(".sh", ".bash", ".zsh", ".ksh", ".bats", ".ebuild", ".eclass"),
    filenames=(
        ".bash_aliases",
        ".bash_login",
        ".bash_logout",
        ".bash_profile",
        ".bashrc",
        ".envrc",
        ".kshrc",
        ".profile",
        ".zlogin",
        ".zlogout",
        ".zprofile",
        ".zshenv",
        ".zshrc",
        "APKBUILD",
        "PKGBUILD",
        "bashrc",
        "zshrc",
    ),
    aliases=("sh", "shell", "zsh", "ksh"),
    interpreters=("bash", "sh", "dash", "ash", "zsh", "ksh", "ksh93", "mksh", "bats"),
    grammar="tree_sitter_bash:language",
    definitions="""
(function_definition name: (word) @name body: (_) @body) @function
(program (declaration_command (variable_assignment name: (variable_name) @name)) @variable)
(program (variable_assignment name: (variable_name) @name) @constant (#match? @name "^[A-Z_][A-Z0-9_]+$"))
(command
  name: (command_name (word) @_test)
  argument: [(string (string_content) @name) (raw_string) @name (word) @name]
  argument: (word)
  (#eq? @_test "@test")) @function
(comment) @comment
""",
    references="""
(command
  name: (command_name (word) @_source)
  . argument: [(word) @import (string) @import (raw_string) @import (concatenation) @import]
  (#any-of? @_source "source" "."))
(command name: (command_name (word) @call)
  (#not-match? @call "^([^A-Za-z_].*|alias|break|cd|continue|echo|eval|exec|exit|false|printf|pwd|read|return\
|set|shift|source|test|trap|true|unalias|wait)$"))
""",
    links=(
        r"""^[ \t]*+(?:source|\.)[ \t]++["']?(?:\$\w++/|\$\{\w++\}/|\$\([^()\n]{1,200}\)["']?/)?"""
        r"""(?P<target>[\w./-]++)""",
    ),
)
