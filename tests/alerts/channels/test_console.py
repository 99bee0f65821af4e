"""The console: one line for each event, with its times, whatever becomes of the terminal."""

import asyncio
import io
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from alerts.alarms import Cause, Kind, Outcome, Verdict
from alerts.channels.console import LINES_MAX, Console

Make = Callable[..., Any]


@asynccontextmanager
async def running(console: Console) -> AsyncIterator[Console]:
    task = asyncio.create_task(console.run())
    await asyncio.sleep(0)
    try:
        yield console
    finally:
        task.cancel()
        await asyncio.wait([task])


async def told(console: Console, *notices: Any) -> None:
    async with running(console):
        for notice in notices:
            assert await console.deliver(notice) == Outcome(Verdict.ACCEPTED)


async def test_an_event_is_one_line_with_its_times(make_event: Make, make_notice: Make) -> None:
    out = io.StringIO()
    await told(Console("console", out, "pt-BR"), make_notice(make_event(), text="ALARME DE GÁS " + "longo " * 60))
    (line,) = out.getvalue().splitlines()
    assert line.startswith("2026-11-30T11:10:59.001Z ALARME DE GÁS longo ")
    assert line.endswith(" [amostra 2026-11-30T11:10:59.000Z, decisão +1,5 ms]")
    assert "\x1b" not in line


async def test_the_first_output_is_told_when_it_is_known(make_event: Make, make_notice: Make, at: Make) -> None:
    out = io.StringIO()
    notice = make_notice(make_event(), recorded=False)
    await told(Console("console", out, "en", first_output=lambda _key: at(12.25)), notice)
    assert out.getvalue().endswith("decided +1.5 ms, first output +12.2 ms, not yet recorded]\n")


async def test_the_first_output_of_an_earlier_level_is_no_news(make_event: Make, make_notice: Make, at: Make) -> None:
    out = io.StringIO()
    risen = make_event(cause=Cause.RISEN, sampled=at(5000), at=at(5001))
    await told(Console("console", out, "en", first_output=lambda _key: at(12.25)), make_notice(risen))
    assert "first output" not in out.getvalue()


async def test_markup_in_a_name_is_text(make_notice: Make) -> None:
    out = io.StringIO()
    await told(Console("console", out, "en"), make_notice(text="[bold]GD[/bold] [link=x]"))
    assert "[bold]GD[/bold] [link=x]" in out.getvalue()


async def test_a_terminal_gets_colour_and_still_one_line(make_event: Make, make_notice: Make) -> None:
    master, slave = os.openpty()
    with os.fdopen(slave, "w") as terminal:
        console = Console("console", terminal, "pt-BR")
        await told(console, make_notice(make_event(kind=Kind.BLIND)), make_notice())
    shown = os.read(master, 65536).decode()
    os.close(master)
    assert shown.count("\n") == 2
    assert "\x1b[33mALARME" in shown
    assert "\x1b[1;31mALARME" in shown


@pytest.mark.measured
async def test_a_held_up_terminal_never_holds_the_loop_up(make_event: Make, make_notice: Make) -> None:
    free = threading.Event()

    class HeldUp(io.StringIO):
        def write(self, text: str) -> int:
            free.wait(20)
            return super().write(text)

    out = HeldUp()
    loop = asyncio.get_running_loop()
    async with running(Console("console", out, "en")) as console:
        began = loop.time()
        outcomes = [await console.deliver(make_notice(make_event(kind=Kind.BLIND))) for _ in range(LINES_MAX + 10)]
        assert loop.time() - began < 5
        assert outcomes[0] == Outcome(Verdict.ACCEPTED)
        assert outcomes[-1] == Outcome(Verdict.RETRY, "console-held-up")
        ending = loop.time()
    assert loop.time() - ending < 1
    free.set()


async def test_the_line_of_a_gas_alarm_waits_a_moment_for_its_first_output(make_notice: Make) -> None:
    out, first = io.StringIO(), []
    notice = make_notice()
    console = Console("console", out, "en", lambda _: first[0] if first else None)
    async with running(console):
        assert await console.deliver(notice) == Outcome(Verdict.ACCEPTED)
        first.append(notice.event.at)
        async with asyncio.timeout(5):
            while "first output" not in out.getvalue():  # noqa: ASYNC110 - a thread of its own writes it
                await asyncio.sleep(0)
    assert out.getvalue().count("\n") == 1


async def test_a_terminal_that_has_gone_does_not_end_the_channel(make_notice: Make) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with suppress(BrokenPipeError), os.fdopen(writer, "w", buffering=1) as broken:
        console = Console("console", broken, "en")
        await told(console, *[make_notice()] * 3)
        assert console._lines.empty(), "the writer has ended"
        os.fstat(writer)  # still ours, not put aside by the library


def test_a_console_never_counts_as_an_output() -> None:
    assert Console("console", io.StringIO(), "en").counts is False
