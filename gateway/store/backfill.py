"""Sends readings of the past from the depot's own file to its database, beside a running watch."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway.store.base import Base, Verdict
from gateway.store.history import ReadingsHistory
from gateway.store.lines import GasLines
from gateway.store.past import lines_of_hour
from gateway.store.settings import Influx

HOUR_S = 3_600
TRIES = 5
FIRST_PAUSE_S = 0.5


@dataclass(slots=True)
class Sent:
    """How far it went. `gone`: minutes whose seconds are no longer kept.

    Attributes:
        until_s: everything before this moment (UTC seconds) is in the database.
        reason: why it ended early; empty if it did not.
    """

    points: int = 0
    gone: int = 0
    until_s: int = 0
    reason: str = ""


async def backfill(
    history: ReadingsHistory,
    lines: GasLines,
    influx: Influx,
    stretches: Sequence[tuple[int, int]],
    *,
    send: bool,
    told: Callable[[int, int, int], None],
) -> Sent:
    """Send the seconds kept of these stretches (UTC seconds, ends excluded), oldest first; without `send` only count.

    `told` hears of each hour: its start, its end, its points. The same points sent twice change nothing in a database.

    Raises:
        StoreError: the readings cannot be read.
    """
    sent = Sent()
    detectors = await asyncio.to_thread(history.detectors)
    async with Base(influx.target) as base:
        for start, end in stretches:
            for hour in range(start, end, HOUR_S):
                last = min(hour + HOUR_S, end)
                found, gone = await asyncio.to_thread(lines_of_hour, history, lines, detectors, hour, last)
                sent.gone += gone
                if send:
                    sent.reason = await _send(base, influx, found)
                if sent.reason:
                    return sent
                sent.points += len(found)
                sent.until_s = last
                if found:
                    told(hour, last, len(found))
    return sent


async def _send(base: Base, influx: Influx, lines: Sequence[str]) -> str:
    """Send lines at the pace of a catch-up; return why it could not be done."""
    size = influx.pace.most_points
    for first in range(0, len(lines), size):
        part = lines[first : first + size]
        began, pause = time.monotonic(), FIRST_PAUSE_S
        for left in reversed(range(TRIES)):
            answer = await base.write("\n".join(part).encode())
            if answer.verdict is Verdict.ACCEPTED:
                break
            if left == 0 or answer.verdict not in (Verdict.BUSY, Verdict.NO_ANSWER):
                return f"{answer.verdict.value} {answer.detail}".strip()
            await asyncio.sleep(max(pause, min(answer.retry_after_s or 0.0, 60.0)))
            pause *= 2
        await asyncio.sleep(max(0.0, began + len(part) / influx.pace.catch_up - time.monotonic()))
    return ""
