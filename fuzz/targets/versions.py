"""Versions of languages that a query names, and the patterns that look for them."""

from dowse.search.channels import version_checks
from fuzz.inputs import decode_text


def run(data: bytes) -> None:
    """Find versions, and compile the patterns of code that checks for them."""
    for version in version_checks.find_versions(decode_text(data)):
        version_checks.make_idiom_terms([version])
        version_checks._compile_check(version)
