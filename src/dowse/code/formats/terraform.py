"""Terraform and OpenTofu: resources, data, modules, variables, locals and outputs by their addresses, and references.

An address is what an expression writes: ``aws_s3_bucket.logs``, ``data.aws_ami.base``, ``module.net``, ``var.region``,
``local.prefix``; what is only defined is called alike (``output.arn``, ``provider.aws``). Files of a folder are one
module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dowse.code.formats.reading import IN_FOLDER, FormatResult, FormatSource, Item
from dowse.types.source import Kind, ReferenceKind

_PREFIXES = {"variable": "var", "locals": "local"}
_KINDS = {
    "resource": Kind.RESOURCE,
    "data": Kind.RESOURCE,
    "module": Kind.RESOURCE,
    "provider": Kind.RESOURCE,
}
_VALUE_KINDS = frozenset({"variable", "locals", "output"})
_ADDRESS = re.compile(
    r"""(?<![\w."-])(?:
        (?:var|local|module)\.[A-Za-z_][\w-]*
      | data\.[a-z][a-z0-9_]*\.[A-Za-z_][\w-]*
      | [a-z][a-z0-9]*_[a-z0-9_]+\.[A-Za-z_][\w-]*
    )""",
    re.VERBOSE,
)

MAX_LINE_CHARS = 2_000


def read(source: FormatSource) -> FormatResult:
    """Read the blocks of a file and the addresses that they mention."""
    code = source.parse_as("hcl")
    result = FormatResult(tree=code.tree, health=code.health)
    result.references[ReferenceKind.LINK] = code.references.get(ReferenceKind.LINK, ())
    result.items += _list_items(code.items())
    for row, line in enumerate(source.content.decode("utf-8", "replace").split("\n")):
        if "." in line and not line.lstrip().startswith(("#", "//")):
            for found in _ADDRESS.finditer(line[:MAX_LINE_CHARS]):
                result.link(found[0], row, IN_FOLDER)
    return result


def _list_items(items: list[Item]) -> Iterator[Item]:
    """List blocks by their addresses; a block of locals is only what is in it."""
    for item in items:
        word, _, rest = item.qualified.partition(".")
        item.parent = None
        if word == "locals" and not rest:
            continue
        if word in _VALUE_KINDS and rest:
            item.kind = Kind.KEY
        else:
            item.kind = _KINDS.get(word, item.kind)
        if rest:
            item.name = rest.rpartition(".")[2]
            item.qualified = rest if word == "resource" else f"{_PREFIXES.get(word, word)}.{rest}"
        yield item
