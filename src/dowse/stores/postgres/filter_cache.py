"""What a filter lets through, as ids: asked of the server once and remembered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dowse.stores.postgres import filter_sql
from dowse.stores.postgres.filter_sql import Where
from dowse.stores.postgres.postings import Allowed, Array, Layout, Segment
from dowse.stores.postgres.read_cache import Remembered
from dowse.stores.postgres.transaction import Session
from dowse.types import Filter


class Filters:
    """The filters of one snapshot."""

    def __init__(self, session: Session, remembered: Remembered) -> None:
        self._session = session
        self._remembered = remembered

    @property
    def layout(self) -> Layout:
        """The chunks of the view in a row."""
        remembered = self._remembered
        if remembered.layout is None:
            rows = self._session.ask(
                "SELECT number, files, chunks, removed FROM segments WHERE view = %s ORDER BY number",
                [self._session.view],
            )
            remembered.layout = Layout(Segment.from_row(*row) for row in rows)
        return remembered.layout

    def allowed(self, filter: Filter) -> Allowed:
        """What a filter lets through, as ids."""
        if not (filter.about_files or filter.about_chunks):
            return Allowed()
        found = self._remembered.allowed.get(filter)
        if found is None:
            found = self._asked(filter)
            self._remembered.allowed.put(filter, found)
        return found

    def files(self, filter: Filter) -> Array | None:
        """The files that a filter lets through, whatever it says about chunks; None for all."""
        return self.allowed(replace(filter, kinds=frozenset(), not_kinds=frozenset(), names=())).files

    def passes(self, filter: Filter) -> Array | None:
        """Which chunks of the layout pass; None for all."""
        if not (filter.about_files or filter.about_chunks):
            return None
        found = self._remembered.passes.get(filter)
        if found is None:
            found = self.allowed(filter).of(self.layout)
            assert found is not None
            self._remembered.passes.put(filter, found)
        return found

    def chunks(self, filter: Filter) -> Array:
        """The chunks that pass."""
        passes = self.passes(filter)
        return self.layout.ids[self.layout.live if passes is None else self.layout.live & passes]

    def reach(self, filter: Filter) -> int:
        """How many chunks the files that pass have."""
        files = self.files(filter)
        return self._session.state.chunks if files is None else self.layout.chunks_of(files)

    def _asked(self, filter: Filter) -> Allowed:
        where = filter_sql.files(filter)
        chunks = not_chunks = None
        if filter.kinds:
            chunks = self._defining(filter_sql.kinds(filter.kinds), where)
        if filter.names:
            named = self._defining(filter_sql.names(filter.names), where)
            chunks = named if chunks is None else np.intersect1d(chunks, named)
        if filter.not_kinds:
            not_chunks = self._defining(filter_sql.kinds(filter.not_kinds), where)
        files = None
        if filter.about_files:
            query = "SELECT string_agg(int8send(f.id), ''::bytea) FROM files f WHERE f.view = %s"
            files = self._ids(query, where)
        return Allowed(files, chunks, not_chunks)

    def _defining(self, definition: Where, where: Where) -> Array:
        """The chunks in or around which there is such a definition."""
        return self._ids(
            "SELECT string_agg(int8send(f.id << 20 | place), ''::bytea) FROM files f "
            "JOIN names n ON n.content = f.content CROSS JOIN unnest(n.around || n.chunk) place WHERE f.view = %s",
            Where(definition.text + where.text, definition.values + where.values),
        )

    def _ids(self, query: str, where: Where) -> Array:
        ((packed,),) = self._session.ask(query + where.text, [self._session.view, *where.values])
        return np.frombuffer(packed or b"", dtype=">i8").astype(np.int64)
