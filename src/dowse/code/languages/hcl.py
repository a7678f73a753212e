"""HCL: Terraform, Nomad, Packer and other HashiCorp configuration."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="hcl",
    extensions=(".tf", ".tfvars", ".hcl", ".nomad", ".tofu"),
    grammar="tree_sitter_hcl:language",
    links=(
        r'\b(?P<detail>source|filename|path|template)\s*=\s*"(?P<target>\.{1,2}/[^"$]*)"',
        r'\b(?P<detail>file|templatefile|filebase64)\(\s*"(?:\$\{path\.(?:module|root)\}/)?(?P<target>[^"$]+)"',
    ),
    definitions="""
(config_file (body (block . (identifier) @name . (block_start) @body) @block))
(config_file (body (block
  . (identifier) @name
  . [(string_lit (template_literal) @name) (identifier) @name]
  . (block_start) @body) @block))
(config_file (body (block
  . (identifier) @name
  . [(string_lit (template_literal) @name) (identifier) @name]
  . [(string_lit (template_literal) @name) (identifier) @name]
  . (block_start) @body) @block))
(config_file (body (block
  . (identifier) @_locals
  (body (attribute . (identifier) @name) @variable)) (#eq? @_locals "locals")))
(config_file (body (attribute . (identifier) @name) @variable))
(comment) @comment
""",
    references="""
(block
  . (identifier) @_module
  (body (attribute
    . (identifier) @_source
    (expression (literal_value (string_lit (template_literal) @import)))))
  (#eq? @_module "module") (#eq? @_source "source"))
(expression . (variable_expr) @_data . (get_attr (identifier) @call) (#not-eq? @_data "data"))
(expression . (variable_expr) @_data . (get_attr) . (get_attr (identifier) @call) (#eq? @_data "data"))
""",
)
