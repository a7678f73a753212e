"""Elixir."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="elixir",
    extensions=(".ex", ".exs"),
    filenames=("mix.lock",),
    interpreters=("elixir", "iex"),
    grammar="tree_sitter_elixir:language",
    definitions="""
; what has a target and arguments is a call: naming it takes three times as long to compile
(_
  target: (identifier) @_keyword
  (_ . (alias) @name)
  (_ (_ operand: (_ target: (identifier) @_moduledoc (arguments . (_ (quoted_content) @doc))))) @body
  (#eq? @_moduledoc "moduledoc") (#eq? @_keyword "defmodule")) @module
(_ target: (identifier) @_keyword (_ . (alias) @name) (do_block) @body (#eq? @_keyword "defmodule")) @module
(_ target: (identifier) @_keyword (_ . (alias) @name) (do_block) @body (#eq? @_keyword "defprotocol")) @interface
(_
  target: (identifier) @_keyword
  (_ . (alias) @name (keywords (pair key: (keyword) @_for value: (_) @owner)))
  (do_block) @body
  (#eq? @_keyword "defimpl") (#match? @_for "^for:")) @impl
(_
  target: (identifier) @_keyword
  (arguments . [
    (identifier) @name
    (_ [target: (identifier) @name left: (_ target: (identifier) @name)])
  ])
  (do_block)? @body
  (#any-of? @_keyword "def" "defp" "defdelegate" "defn" "defnp")) @function
(_
  target: (identifier) @_keyword
  (arguments . [
    (identifier) @name
    (_ [target: (identifier) @name left: (_ target: (identifier) @name)])
  ])
  (do_block)? @body
  (#any-of? @_keyword "defmacro" "defmacrop" "defguard" "defguardp")) @macro
(_ target: (identifier) @name (arguments) (#any-of? @name "defstruct" "defexception")) @struct
(_ target: (identifier) @_keyword (_ . (string (quoted_content) @name)) (do_block) @body
  (#any-of? @_keyword "describe" "property" "test")) @block
(unary_operator operator: "@" operand: (_
  target: (identifier) @_keyword
  (arguments . (_ left: [(identifier) @name (_ target: (identifier) @name)]))
  (#any-of? @_keyword "type" "typep" "opaque"))) @type
(unary_operator operator: "@" operand: (_
  target: (identifier) @_keyword
  (arguments . (_ left: (_ target: (identifier) @name)))
  (#any-of? @_keyword "callback" "macrocallback"))) @function
(unary_operator operator: "@" operand: (_ target: (identifier) @name (arguments))
  (#not-match? @name "^(after_compile|before_compile|behaviour|callback|compile|deprecated|derive|describetag\
|dialyzer|doc|enforce_keys|external_resource|impl|macrocallback|moduledoc|moduletag|on_definition|on_load|opaque\
|optional_callbacks|since|spec|tag|type|typedoc|typep)$")) @constant
(unary_operator operator: "@" operand: (_
  target: (identifier) @_keyword
  (arguments . (_ (quoted_content) @doc)))
  (#any-of? @_keyword "doc" "typedoc")) @comment
(unary_operator operator: "@" operand: (_ target: (identifier) @_keyword (arguments))
  (#any-of? @_keyword "spec" "impl" "deprecated" "since" "tag")) @attribute
(comment) @comment
""",
    clauses=True,
    references="""
(_
  target: (identifier) @_keyword
  (arguments . [(alias) @import (dot left: (alias) @import)])
  (#any-of? @_keyword "alias" "import" "require" "use"))
(_ target: (identifier) @_keyword (arguments . (alias) @inherit) (#eq? @_keyword "defimpl"))
(unary_operator operand: (_ target: (identifier) @_keyword (arguments . (alias) @inherit)
  (#eq? @_keyword "behaviour")))
(call target: (identifier) @call
  (#not-match? @call "^(alias|behaviour|callback|case|cond|def[a-z]*|doc|for|if|impl|import|moduledoc|opaque\
|quote|raise|receive|require|spec|super|try|type|typedoc|typep|unless|unquote|use|with)$"))
(call target: (_ right: (identifier) @call))
""",
)
