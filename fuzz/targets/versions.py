"""Versions of languages that a query names, and the patterns that look for them."""

from dowse.search import versions
from fuzz.inputs import as_text


def run(data: bytes) -> None:
    """Find versions, and compile what looks for the places that ask for them."""
    for version in versions.named(as_text(data)):
        versions.terms([version])
        versions._asks_for(version)
