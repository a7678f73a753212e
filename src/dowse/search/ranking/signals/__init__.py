"""Ranking signals (features): named, bounded, switchable rules that boost, demote or add candidates; their table, in
order.
"""

from __future__ import annotations

from collections.abc import Mapping

from dowse.search.ranking.signals import (
    definition,
    entity_name,
    file_name,
    file_role,
    inline_test,
    multi_hit_file,
    phrase,
    proximity,
    test_partner,
)
from dowse.search.ranking.signals.context import Signal

SIGNALS: Mapping[str, Signal] = {
    "phrase": phrase.apply,
    "definition": definition.apply,
    "entity_name": entity_name.apply,
    "file_name": file_name.apply,
    "inline_test": inline_test.apply,
    "multi_hit_file": multi_hit_file.apply,
    "file_role": file_role.apply,
    "test_partner": test_partner.apply,
    "proximity": proximity.apply,
}

__all__ = ["SIGNALS", "Signal"]
