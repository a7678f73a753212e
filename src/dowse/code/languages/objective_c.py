"""Objective-C."""

from dowse.code.languages import c
from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="objective-c",
    extensions=(".m", ".mm"),
    claims=((".h", r"^[ \t]*+@(?:interface|protocol|property|end)\b|^#import\b"),),
    aliases=("objc", "obj-c", "objectivec"),
    grammar="tree_sitter_objc:language",
    definitions="""
((class_interface . (identifier) @name) @impl (#match? @impl "^@interface\\\\s+\\\\w+\\\\s*\\\\("))
(class_interface . (identifier) @name) @class
(class_implementation . (identifier) @name) @impl
(protocol_declaration . (identifier) @name) @interface
(method_declaration (method_type) . (identifier) @name) @method
(implementation_definition (_ (method_type) . (identifier) @name (compound_statement) @body) @method)
(property_declaration (struct_declaration (_ [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
]))) @variable
(instance_variable (struct_declaration (_ [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
]))) @variable
(type_definition type: (macro_type_specifier type: (type_descriptor (type_identifier) @name))) @enum
(type_definition type: (macro_type_specifier) declarator: (type_identifier) @name) @constant
(type_definition declarator: (_ declarator: (_ (block_pointer_declarator declarator: (_) @name)))) @type
"""
    + c.DEFINITIONS,
    references=c.REFERENCES
    + """
(module_import path: (_) @import)
(message_expression . method: (identifier) @call)
(message_expression receiver: (_) . method: (identifier) @call)
(class_interface superclass: (_) @inherit)
(class_interface (parameterized_arguments (type_name (type_identifier) @inherit)))
(protocol_reference_list (identifier) @inherit)
""",
    wrappers=(*c.WRAPPERS, "implementation_definition"),
    prototypes=True,
    lines=(
        ("interface", r"@(?:interface|protocol)\h+(?P<name>\w+)(?!\w*\h*[,;])", r"@end"),
        ("class", r"@implementation\h+(?P<name>\w+)", r"@end"),
        ("method", r"[-+]\h*\([^()\n]*\)\h*(?P<name>\w+)"),
        (
            "function",
            r"(?!(?:return|else|typedef|if|for|while|switch)\b)(?:[\w*]+\h+){1,5}\*?(?P<name>\w+)\([^;\n]*$",
        ),
    ),
)
