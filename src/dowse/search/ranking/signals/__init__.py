"""Signals: named, bounded, switchable rules that boost, demote or add candidates. The table, in the order they act."""

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
    "verbatim": phrase.apply,
    "definition": definition.apply,
    "entity_name": entity_name.apply,
    "file_name": file_name.apply,
    "inline_test": inline_test.apply,
    "file_coherence": multi_hit_file.apply,
    "role": file_role.apply,
    "partner": test_partner.apply,
    "cursor": proximity.apply,
}

__all__ = ["SIGNALS", "Signal"]
