"""Long texts, of which the terms are chosen that carry them."""

from dowse.search.query import keywords
from fuzz.inputs import decode_text


def run(data: bytes) -> None:
    """Choose terms, with every other one unknown to the index."""
    text = decode_text(data)
    keywords.is_long(text)
    words = keywords.list_words(text)
    chosen = keywords.choose_keywords(words, lambda token: len(token) % 2 * 7, 1000)
    assert all(0 < term.weight <= 1 for term in chosen.terms)
    assert len(chosen.terms) + len(chosen.unseen) + len(chosen.dropped) == len(words)
