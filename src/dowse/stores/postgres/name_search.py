"""Definitions by name: in the order of the server's indexes, none asked for that is known not to be there."""

from __future__ import annotations

from dowse.stores import name_match
from dowse.stores.postgres import filter_sql
from dowse.stores.postgres.filter_sql import Where, stored
from dowse.stores.postgres.read_cache import LISTED_NAMES, NameList, Remembered
from dowse.stores.postgres.transaction import Rows, Session
from dowse.types import Filter, Kind, NameHit, NameTier


class Names:
    """Names of one snapshot."""

    def __init__(self, session: Session, remembered: Remembered) -> None:
        self._session = session
        self._remembered = remembered

    def search(self, pattern: str, tier: NameTier, filter: Filter, limit: int) -> list[NameHit]:
        """Entities whose name matches in this way."""
        known = self._list()
        if tier is NameTier.FUZZY:
            rows = self._alike(stored(pattern.lower()), known, filter, limit)
        elif known is not None and not _possible(known, stored(pattern.lower()), tier):
            rows = []
        else:
            rows = self._found(_matching(pattern, tier), filter, limit)
        return [NameHit(file, ordinal, chunk, tier, Kind(kind)) for file, ordinal, chunk, _, kind in rows]

    def _found(self, match: Where, filter: Filter, limit: int | None) -> Rows:
        where = filter_sql.files(filter), filter_sql.definition(filter)
        return self._session.ask(
            "SELECT f.id, n.ordinal, n.chunk, n.name_key, n.kind FROM names n "
            "JOIN files f ON f.view = %s AND f.content = n.content "
            f"WHERE n.repository = %s{match.text}{where[0].text}{where[1].text} "
            "ORDER BY n.name_key, f.path, n.ordinal LIMIT %s",
            [
                self._session.view, self._session.state.repository, *match.values, *where[0].values,
                *where[1].values, limit,
            ],
        )  # fmt: skip

    def _alike(self, key: str, known: NameList | None, filter: Filter, limit: int) -> Rows:
        """Names that are a few typos away: the server can tell which may be, not which are."""
        edits, letters = name_match.typos_allowed(key), filter_sql.letters(key)
        if known is not None:
            near = known.near(len(key), letters, edits)
            alike = [name for name in near if name_match.matches(NameTier.FUZZY, key, name)]
            return self._found(Where(" AND n.name_key = ANY(%s)", (alike,)), filter, limit) if alike else []
        match = Where(
            " AND char_length(n.name_key) BETWEEN %s AND %s AND bit_count((n.letters # %s)::bit(64)) <= %s",
            (len(key) - edits, len(key) + edits, letters, 2 * edits),
        )
        rows = self._found(match, filter, None)
        matches = {name: name_match.matches(NameTier.FUZZY, key, name) for name in {row[3] for row in rows}}
        return [row for row in rows if matches[row[3]]][:limit]

    def _list(self) -> NameList | None:
        """All names, if they are asked for often and are not too many."""
        remembered = self._remembered
        if not remembered.asked_often:
            return None
        if remembered.names is None:
            rows = self._session.ask(
                "SELECT DISTINCT name_key, letters FROM names WHERE repository = %s ORDER BY name_key LIMIT %s",
                [self._session.state.repository, LISTED_NAMES + 1],
            )
            remembered.names = NameList(
                [] if len(rows) > LISTED_NAMES else [(row[0], row[1]) for row in rows]
            )
        return remembered.names if remembered.names.keys else None


def _possible(known: NameList, key: str, tier: NameTier) -> bool:
    """Whether a tier can find anything."""
    if tier is NameTier.GLOB:
        return True
    return known.begins(key) if tier is NameTier.PREFIX else known.has(key)


def _matching(pattern: str, tier: NameTier) -> Where:
    """What the names of a tier are looked up by."""
    key = stored(pattern.lower())
    if tier is NameTier.EXACT:
        return Where(" AND n.name_key = %s AND n.name = %s", (key, stored(pattern)))
    if tier is NameTier.CASE:
        return Where(" AND n.name_key = %s", (key,))
    if tier is NameTier.PREFIX:
        return Where(" AND n.name_key >= %s AND n.name_key <= %s", (key, key + "\U0010ffff"))
    return Where(" AND n.name_key ~ %s", (filter_sql.named(pattern),))
