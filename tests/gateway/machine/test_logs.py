"""What the process says while nobody reads it: nobody waits, and what is dropped is told."""

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
import structlog
from full_pipe import fill

from gateway.machine.logs import (
    BURST,
    FLUSH_S,
    KINDS_MAX,
    LINES_MAX,
    PIECE_MAX_CHARS,
    WINDOW_S,
    Repeats,
    UnblockedStream,
)

pytestmark = pytest.mark.measured


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def drained(descriptor: int, until: str, within_s: float = 5.0) -> str:
    """Read until a text has come."""
    os.set_blocking(descriptor, False)
    found, deadline = b"", time.monotonic() + within_s
    while until.encode() not in found:
        assert time.monotonic() < deadline, found[-500:]
        try:
            found += os.read(descriptor, 65536)
        except BlockingIOError:
            time.sleep(0.005)
    return found.decode()


def test_a_pipe_that_nobody_reads_holds_nobody_up_and_what_is_dropped_is_told_later(pipe: tuple[int, int]) -> None:
    reads, writes = pipe
    fill(writes)
    stream = UnblockedStream(writes)
    began = time.monotonic()
    for number in range(LINES_MAX + 500):
        stream.write(f"line {number}\n")
    stream.flush()
    assert time.monotonic() - began < 1.0

    text = drained(reads, "lines dropped")
    told = next(line for line in text.splitlines() if "lines dropped" in line)
    count = json.loads(told)["count"]
    assert count in (499, 500)  # the thread may hold one piece in its hand
    stream.end()


def test_the_end_waits_for_the_last_lines_but_not_for_a_reader_who_never_comes(pipe: tuple[int, int]) -> None:
    reads, writes = pipe
    read = UnblockedStream(writes)
    read.write("last words\n")
    read.end()
    assert os.read(reads, 100) == b"last words\n"

    fill(writes)
    unread = UnblockedStream(writes)
    unread.write("last words\n")
    began = time.monotonic()
    unread.end()
    assert time.monotonic() - began < FLUSH_S + 0.5
    drained(reads, "last words\n")


def test_a_reader_who_has_gone_and_an_endless_line_do_no_harm() -> None:
    reads, writes = os.pipe()
    stream = UnblockedStream(writes)
    stream.write("y" * 10 * PIECE_MAX_CHARS)
    assert len(drained(reads, "…\n")) == PIECE_MAX_CHARS + 2
    os.close(reads)
    for _ in range(10):
        stream.write("nobody\n")
    stream.end()
    assert f"output:{writes}" not in {thread.name for thread in threading.enumerate()}
    os.close(writes)


def test_bytes_are_refused_so_that_nobody_takes_it_for_a_binary_stream(pipe: tuple[int, int]) -> None:
    stream = UnblockedStream(pipe[1])
    with pytest.raises(TypeError):
        stream.write(b"x")  # type: ignore[arg-type]
    stream.end()


def test_lines_of_one_kind_are_bounded_in_a_minute_and_the_left_out_are_counted() -> None:
    now = [0.0]
    repeats = Repeats(lambda: now[0])

    def passes(**event: object) -> dict[str, object] | None:
        try:
            return dict(repeats(None, "error", event))
        except structlog.DropEvent:
            return None

    flood = [passes(event="part failed", part="web") for _ in range(100)]
    assert sum(line is not None for line in flood) == BURST
    assert passes(event="part failed", part="control") is not None
    now[0] = WINDOW_S
    assert passes(event="part failed", part="web") == {"event": "part failed", "part": "web", "left_out": 90}
    assert passes(event="part failed", part="web") == {"event": "part failed", "part": "web"}

    lines = [passes(event=f"kind {number}") for number in range(10_000)]
    assert 500 < sum(line is not None for line in lines) <= 600
    assert len(repeats._kinds) <= KINDS_MAX


CHILD = """
import asyncio, logging, sys, threading, warnings
import structlog
from gateway.machine import logs
logs.install()
async def main():
    loop = asyncio.get_running_loop()
    for number in range(3000):
        loop.call_exception_handler({"message": f"odd {number}"})
        warnings.warn(f"warning {number}")
        logging.getLogger("lib").error("kind %s", number)
        structlog.get_logger("watch").error(f"own {number}", n="y" * 100)
        print("data", number, "z" * 100)
asyncio.run(main())
with open("through", "w") as file:
    print("through", file=file)
if len(sys.argv) > 1:
    raise RuntimeError("ends with a trace")
"""


@pytest.mark.parametrize("trace", [[], ["trace"]])
def test_a_process_ends_by_itself_whatever_it_says_while_nobody_reads(tmp_path, pipe, trace) -> None:
    _, writes = pipe
    fill(writes)
    child = subprocess.Popen([sys.executable, "-c", CHILD, *trace], stdout=writes, stderr=writes, cwd=tmp_path)
    assert child.wait(20) == len(trace)
    assert (tmp_path / "through").read_text() == "through\n"


def test_what_libraries_say_and_a_last_trace_stand_in_the_log(tmp_path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", CHILD.replace("3000", "1"), "trace"], capture_output=True, cwd=tmp_path, check=False
    )
    *lines, _ = run.stderr.decode().partition("Traceback")
    events = [json.loads(line) for line in lines[0].splitlines()]
    assert {(event["event"], event.get("message"), event.get("logger")) for event in events} >= {
        ("odd 0", None, "asyncio"),
        ("kind %s", "kind 0", "lib"),
    }
    assert any("warning 0" in str(event) for event in events)
    assert b"RuntimeError: ends with a trace" in run.stderr
    assert run.stdout.startswith(b"data 0 zz")
    assert run.returncode == 1


def test_installing_leaves_streams_without_a_descriptor_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    from gateway.machine import logs

    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    handlers = list(logging.getLogger().handlers)
    logs.install()
    assert (sys.stdout, sys.stderr) == (out, err)
    assert logging.getLogger().handlers == handlers
