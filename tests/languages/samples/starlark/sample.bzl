"""Rules that build documents."""

load("@rules_python//python:defs.bzl", "py_binary")

DEFAULT_STYLE = "plain"

def _document_impl(ctx):
    """Writes the document."""
    output = ctx.actions.declare_file(ctx.label.name + ".html")
    ctx.actions.run(outputs = [output], executable = ctx.executable.tool)
    return [DefaultInfo(files = depset([output]))]

document = rule(
    implementation = _document_impl,
    attrs = {"srcs": attr.label_list()},
)

# A document and the program that serves it.
def served_document(name, srcs):
    document(name = name, srcs = srcs)
    py_binary(name = name + "_server", srcs = ["serve.py"])
