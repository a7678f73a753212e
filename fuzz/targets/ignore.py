"""Ignore files: every line is a pattern or nothing, and a match says which line decided."""

import warnings

from dowse.indexing import ignore
from fuzz.inputs import decode_text, split


def run(data: bytes) -> None:
    """Parse a file and match paths of the fuzzer's own, and some that patterns often mean."""
    content, names = split(data, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        patterns = ignore.parse_file(".gitignore", content)
        for path in (
            "src/app.py",
            "a/b/c/d.txt",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            *decode_text(names).split("\n")[:3],
        ):
            for is_folder in (False, True):
                found = patterns.last_match(path, path.rpartition("/")[2], is_folder=is_folder)
                if found is not None:
                    assert is_folder or not found.folders_only
                    patterns.describe(found)
