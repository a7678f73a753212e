"""Named, bounded, switchable judgements on candidates: the table, in the order they act."""

from __future__ import annotations

from collections.abc import Mapping

from dowse.search.ranking.signals import (
    definition,
    entity_name,
    file_name,
    file_role,
    inline_test,
    multi_hit_file,
)
from dowse.search.ranking.signals.candidates import Candidate, Signal

SIGNALS: Mapping[str, Signal] = {
    "definition": definition.weigh,
    "entity_name": entity_name.weigh,
    "file_name": file_name.weigh,
    "inline_test": inline_test.weigh,
    "file_coherence": multi_hit_file.weigh,
    "role": file_role.weigh,
}

__all__ = ["SIGNALS", "Candidate", "Signal"]
