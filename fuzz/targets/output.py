"""Output of programs: stack traces, compiler errors, test runs. Anything is read, nothing raises."""

from dowse.search.query import error_message, stack_traces
from fuzz.inputs import decode_text


def run(data: bytes) -> None:
    """Read the frames and the message."""
    text = decode_text(data)
    frames = stack_traces.find_frames(text)
    assert len(frames) <= stack_traces.MAX_FRAMES
    assert all(frame.path and frame.line >= 0 for frame in frames)
    message = error_message.find_error_message(text)
    assert len(message) <= error_message.MAX_MESSAGE_CHARS
    assert "\n" not in message
    stack_traces.looks_like_output(text)
