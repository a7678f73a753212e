"""The tokenizer of index and query."""

from dowse.code import tokens
from fuzz.inputs import as_text


def run(data: bytes) -> None:
    """Cut a text into tokens in each of the ways there are, which must agree."""
    text = as_text(data)
    found = tokens.tokens(data)
    assert found == found.strip()
    assert "  " not in found
    wanted = frozenset(found.split()[:5]) | {"use", "getuser"}
    assert tokens.among(data, wanted) == wanted & frozenset(found.split()), (data, wanted)
    assert tokens.run_count(data) == len(tokens.runs(data))
    tokens.tokens(text)
    tokens.runs_by_line(text)
    tokens.path_words(text)
    tokens.path_tokens(text)
    tokens.name_runs(text.split("."))
    for run in tokens.runs(text)[:50]:
        tokens.run_tokens(run)
