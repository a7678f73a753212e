"""Text rendering of ``dowse explain``: what became of one place in a search, channel by channel, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dowse.interfaces.render import View, display_path, header, reason_lines, stage_times
from dowse.interfaces.text_layout import format_count
from dowse.interfaces.theme import escape_text
from dowse.types.explanations import ChannelRank, Explanation, HigherHit, TermMatch, Verdict


def explanation_text(explanation: Explanation, view: View) -> str:
    """Render what became of one place in a search, and why."""
    root, paint = explanation.root, view.paint
    line = f":{explanation.line}" if explanation.line else ""
    place = display_path(root, explanation.path, view.cwd) + line
    lines = [f"{paint(escape_text(place), 'path')}: {escape_text(_format_verdict(explanation))}"]
    if hit := explanation.result:
        lines += [header(hit, root, view), *reason_lines(hit, None, view)]
    lines += _term_lines(explanation.terms, view)
    lines += [f"{paint('channel  ', 'faint')}{_format_channel(channel)}" for channel in explanation.channels]
    lines += [line for rival in explanation.above for line in _rival_lines(rival, root, view)]
    lines.append(f"{paint('time     ', 'faint')}{stage_times(explanation.stages)}")
    return "\n".join(lines)


def _format_verdict(explanation: Explanation) -> str:
    if explanation.verdict is Verdict.SHOWN:
        return f"in the answer, {_format_ordinal(explanation.rank)} of {explanation.candidates} candidates"
    if explanation.verdict is Verdict.TOO_WEAK:
        return f"not in the answer: too weak to be shown, ranked {_format_ordinal(explanation.rank)}"
    if explanation.verdict is Verdict.RANKED:
        return f"not in the answer: ranked {_format_ordinal(explanation.rank)} of {explanation.candidates} candidates"
    if explanation.verdict is Verdict.NOT_CONSIDERED:
        found = any(channel.rank for channel in explanation.channels)
        why = "no channel ranks it among its best" if found else "no channel finds it"
        return f"not in the answer: {explanation.detail or why}"
    return f"not in the answer: {explanation.verdict}: {explanation.detail}"


def _term_lines(terms: Sequence[TermMatch], view: View) -> Iterator[str]:
    has = ", ".join(f"{escape_text(term.text)} ({' '.join(term.fields)})" for term in terms if term.fields)
    missing = (term for term in terms if not term.fields)
    lacks = ", ".join(
        f"{escape_text(term.text)} (in {format_count(term.chunks, 'chunk')})" for term in missing
    )
    if terms:
        yield f"{view.paint('has      ', 'faint')}{has or '-'}"
        yield f"{view.paint('lacks    ', 'faint')}{lacks or '-'}"


def _format_channel(channel: ChannelRank) -> str:
    if channel.why_not:
        return f"{channel.name}: skipped: {channel.why_not}"
    if not channel.rank:
        return f"{channel.name}: not found among {format_count(channel.considered, 'hit')}"
    where = f"{channel.name}: {_format_ordinal(channel.rank)}, score {channel.score:.3f}"
    where += f" (the first has {channel.best:.3f}"
    if channel.rank > channel.considered:
        where += f", the last of {channel.considered} considered {channel.last:.3f}"
    return where + ")"


def _rival_lines(rival: HigherHit, root: str, view: View) -> Iterator[str]:
    """Render a hit that ranks higher, with what it has and the place does not."""
    place = f"{display_path(root, rival.path, view.cwd)}:{rival.start_line}-{rival.end_line}"
    yield f"{view.paint('above    ', 'faint')}{rival.rank}. {escape_text(place)}: {escape_text(rival.entity)}".rstrip()
    if rival.terms:
        yield f"    has {', '.join(map(escape_text, rival.terms))}"
    made = ", ".join(f"{reason.name} {reason.value:+.2f}" for reason in rival.reasons)
    yield f"    score {rival.score:.3f}: {made}"


def _format_ordinal(number: int) -> str:
    """Format an ordinal number: ``1st``, ``2nd``, ``11th``."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
