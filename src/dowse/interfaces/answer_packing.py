"""Pack the answer of a search into a budget of tokens: each hit at one level of detail, or the best mix."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dowse.errors import UsageError
from dowse.types.answers import Detail, Packed, SearchResponse, SearchResult


def pack_response(
    response: SearchResponse,
    hits: Sequence[SearchResult],
    budget: int,
    detail: str | None,
    label: Callable[[SearchResult], str] | None = None,
) -> Packed:
    """Pack the hits that fit into the budget: each with the given detail, or the best mix."""
    from dowse.search.output.budget import UNNAMED_HIT, pack, pack_at_detail
    from dowse.search.output.hit_view import format_location, omit_label
    from dowse.search.output.token_estimate import estimate_tokens

    words, label = response.query.words, label or omit_label
    if detail:
        packed = pack_at_detail(hits, Detail(detail), budget, words, label)
    else:
        packed = pack(hits, budget, words=words, label=label)
    if packed.text == UNNAMED_HIT:
        first = format_location(hits[0])
        needed = estimate_tokens(first)
        raise UsageError(
            f"a budget of {budget} holds no hit: to name the first, {first}, takes {needed} tokens"
        )
    return packed
