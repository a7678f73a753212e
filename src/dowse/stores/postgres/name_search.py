"""Symbol lookup by name on PostgreSQL: exact, prefix, glob (trigram index) and fuzzy, with a cached list of names.

Names that are known to be absent cost no query.
"""

from __future__ import annotations

from dowse.stores import name_match
from dowse.stores.postgres import filter_sql
from dowse.stores.postgres.filter_sql import WhereClause, to_sql_text
from dowse.stores.postgres.read_cache import MAX_LISTED_NAMES, NameList, ReadCache
from dowse.stores.postgres.transaction import SqlRows, Transaction
from dowse.types.source import Kind
from dowse.types.stored import Filter, NameHit, NameTier


class NameSearch:
    """Looks up definitions by name in one snapshot."""

    def __init__(self, transaction: Transaction, cache: ReadCache) -> None:
        self._transaction = transaction
        self._cache = cache

    def search(self, pattern: str, tier: NameTier, filter: Filter, limit: int) -> list[NameHit]:
        """Find entities whose name matches in this way."""
        known = self._load_name_list()
        if tier is NameTier.FUZZY:
            rows = self._find_similar(to_sql_text(pattern.lower()), known, filter, limit)
        elif known is not None and not _may_match(known, to_sql_text(pattern.lower()), tier):
            rows = []
        else:
            rows = self._query_names(_name_condition(pattern, tier), filter, limit)
        return [NameHit(file, ordinal, chunk, tier, Kind(kind)) for file, ordinal, chunk, _, kind in rows]

    def _query_names(self, match: WhereClause, filter: Filter, limit: int | None) -> SqlRows:
        where = filter_sql.file_conditions(filter), filter_sql.entity_conditions(filter)
        return self._transaction.fetch_rows(
            "SELECT f.id, n.ordinal, n.chunk, n.name_key, n.kind FROM names n "
            "JOIN files f ON f.view = %s AND f.content = n.content "
            f"WHERE n.repository = %s{match.text}{where[0].text}{where[1].text} "
            "ORDER BY n.name_key, f.path, n.ordinal LIMIT %s",
            [
                self._transaction.view, self._transaction.state.repository, *match.values, *where[0].values,
                *where[1].values, limit,
            ],
        )  # fmt: skip

    def _find_similar(self, key: str, known: NameList | None, filter: Filter, limit: int) -> SqlRows:
        """Find names that are a few typos away: the server can tell which may be, not which are."""
        edits, letters = name_match.max_typos(key), filter_sql.letter_bits(key)
        if known is not None:
            near = known.find_near(len(key), letters, edits)
            alike = [name for name in near if name_match.matches(NameTier.FUZZY, key, name)]
            return (
                self._query_names(WhereClause(" AND n.name_key = ANY(%s)", (alike,)), filter, limit)
                if alike
                else []
            )
        match = WhereClause(
            " AND char_length(n.name_key) BETWEEN %s AND %s AND bit_count((n.letters # %s)::bit(64)) <= %s",
            (len(key) - edits, len(key) + edits, letters, 2 * edits),
        )
        rows = self._query_names(match, filter, None)
        matches = {name: name_match.matches(NameTier.FUZZY, key, name) for name in {row[3] for row in rows}}
        return [row for row in rows if matches[row[3]]][:limit]

    def _load_name_list(self) -> NameList | None:
        """Load the list of all names, if they are read often and are not too many."""
        cache = self._cache
        if not cache.is_hot:
            return None
        if cache.names is None:
            rows = self._transaction.fetch_rows(
                "SELECT DISTINCT name_key, letters FROM names WHERE repository = %s ORDER BY name_key LIMIT %s",
                [self._transaction.state.repository, MAX_LISTED_NAMES + 1],
            )
            cache.names = NameList([] if len(rows) > MAX_LISTED_NAMES else [(row[0], row[1]) for row in rows])
        return cache.names if cache.names.keys else None


def _may_match(known: NameList, key: str, tier: NameTier) -> bool:
    """Whether a tier can find anything."""
    if tier is NameTier.GLOB:
        return True
    return known.has_prefix(key) if tier is NameTier.PREFIX else known.has(key)


def _name_condition(pattern: str, tier: NameTier) -> WhereClause:
    """Build the condition that the names of a tier are looked up by."""
    key = to_sql_text(pattern.lower())
    if tier is NameTier.EXACT:
        return WhereClause(" AND n.name_key = %s AND n.name = %s", (key, to_sql_text(pattern)))
    if tier is NameTier.CASE:
        return WhereClause(" AND n.name_key = %s", (key,))
    if tier is NameTier.PREFIX:
        return WhereClause(" AND n.name_key >= %s AND n.name_key <= %s", (key, key + "\U0010ffff"))
    return WhereClause(" AND n.name_key ~ %s", (filter_sql.name_pattern(pattern),))
