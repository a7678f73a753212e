"""Output of programs: stack traces, compiler errors, test runs. Anything is read, nothing raises."""

from dowse.search import traces
from fuzz.inputs import as_text


def run(data: bytes) -> None:
    """Read the frames and the message."""
    text = as_text(data)
    frames = traces.frames(text)
    assert len(frames) <= traces.MAX_FRAMES
    assert all(frame.path and frame.line >= 0 for frame in frames)
    message = traces.message(text)
    assert len(message) <= traces.MAX_MESSAGE
    assert "\n" not in message
    traces.looks_like_output(text)
