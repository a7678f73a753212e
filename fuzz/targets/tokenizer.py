"""The tokenizer of index and query."""

from dowse.code import tokens
from fuzz.inputs import decode_text


def run(data: bytes) -> None:
    """Cut a text into tokens in each of the ways there are, which must agree."""
    text = decode_text(data)
    found = tokens.tokenize(data)
    assert found == found.strip()
    assert "  " not in found
    wanted = frozenset(found.split()[:5]) | {"use", "getuser"}
    assert tokens.find_tokens(data, wanted) == wanted & frozenset(found.split()), (data, wanted)
    assert tokens.count_runs(data) == len(tokens.split_runs(data))
    tokens.tokenize(text)
    tokens.split_runs_by_line(text)
    tokens.split_path_words(text)
    tokens.tokenize_path(text)
    tokens.split_name_runs(text.split("."))
    for run in tokens.split_runs(text)[:50]:
        tokens.tokenize_run(run)
