"""Named, bounded, switchable judgements on candidates: the table, in the order they act."""

from __future__ import annotations

from collections.abc import Mapping

from dowse.search.signals import definition, entity_name, file_coherence, file_name, inline_test, role
from dowse.search.signals.base import Candidate, Signal

SIGNALS: Mapping[str, Signal] = {
    "definition": definition.weigh,
    "entity_name": entity_name.weigh,
    "file_name": file_name.weigh,
    "inline_test": inline_test.weigh,
    "file_coherence": file_coherence.weigh,
    "role": role.weigh,
}

__all__ = ["SIGNALS", "Candidate", "Signal"]
