"""Ruby."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="ruby",
    extensions=(".rb", ".rbw", ".rake", ".gemspec", ".ru", ".podspec", ".jbuilder", ".thor"),
    filenames=(
        *("Appraisals", "Berksfile", "Brewfile", "Capfile", "Dangerfile", "Fastfile", "Gemfile", "Guardfile"),
        *("Podfile", "Rakefile", "Steepfile", "Thorfile", "Vagrantfile", ".irbrc", ".pryrc"),
    ),
    aliases=("rails",),
    interpreters=("ruby", "jruby", "rake", "truffleruby"),
    grammar="tree_sitter_ruby:language",
    definitions="""
(module name: (_) @name body: (_)? @body) @module
(class name: (_) @name superclass: (_)? body: (_)? @body) @class
(module body: (_ (method name: (_) @name body: (_)? @body) @method))
(method name: (_) @name body: (_)? @body) @function
(singleton_method name: (_) @name body: (_)? @body) @method
; only a call has a method or a receiver: naming it takes three times as long to compile
((_ method: (identifier) @_define arguments: (_ . (simple_symbol) @name)) @method
  (#eq? @_define "define_method"))
((assignment left: (constant) @name right: (_ receiver: (constant) @_maker method: (identifier) @_new)) @class
  (#any-of? @_maker "Class" "Data" "Struct") (#any-of? @_new "new" "define"))
(assignment left: [(constant) (scope_resolution)] @name) @constant
(class body: (_ (_ !body !operator left: (class_variable) @name) @variable))
((call !receiver method: (identifier) @_attribute arguments: (_ (simple_symbol) @name)) @variable
  (#any-of? @_attribute "attr_reader" "attr_writer" "attr_accessor"))
(comment) @comment
""",
    references="""
; calls in few patterns, each alternative with its own predicate: each pattern takes 10 ms to compile
((call !receiver [
    ([method: (identifier) @_require] arguments: (_ (string) @import))
    ([method: (identifier) @_mixin] arguments: (_ [(constant) (scope_resolution)] @inherit))
    method: (identifier) @call
  ])
  (#any-of? @_require "require" "require_relative" "load" "autoload")
  (#any-of? @_mixin "include" "extend" "prepend")
  (#not-match? @call "^(require|require_relative|load|autoload|include|extend|prepend|new|attr_[a-z]+)$"))
((call [
    ([receiver: (_) @through] method: (identifier) @call)
    ([receiver: [(constant) (scope_resolution)] @call] method: (identifier) @_new)
  ])
  (#not-eq? @call "new") (#eq? @_new "new"))
(assignment left: [(identifier) @bind (instance_variable) @field] right: (_) @value)
(method_parameters (identifier) @parameter)
(method_parameters (_ name: (identifier) @parameter))
(block_parameters (identifier) @parameter)
(superclass [(constant) (scope_resolution)] @inherit)
""",
)
