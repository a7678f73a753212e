"""The report of an indexing run, stored with an index. IndexCorrupt for any other text."""

from dowse.errors import IndexCorrupt
from dowse.stores import row_codec
from fuzz.inputs import decode_json_text


def run(data: bytes) -> None:
    """Unpack a report; what can be read can be written and read again."""
    try:
        report = row_codec.unpack_report(decode_json_text(data))
    except IndexCorrupt:
        return
    assert isinstance(report.seen, int)
    assert all(
        isinstance(count, int) for count in (*report.skipped.values(), *report.skipped_folders.values())
    )
    assert all(isinstance(part, str) for part in report.repaired)
    assert row_codec.unpack_report(row_codec.pack_report(report)) == report
