"""Sends what the spool holds to the database: live and backlog in turn, refused lines one by one.

The rule, whatever happened before: what was made since the base last came back is live, what is older is backlog. Live
goes first, then the two take turns; within each the oldest goes first. So every series of the backlog arrives oldest to
newest, "now" waits for one request at most, and a slow base starves neither.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

import apsw
import structlog

from gateway.store.base import Answer, Base, Verdict
from gateway.store.lines import prefix, series_of
from gateway.store.settings import Pace, Target
from gateway.store.spool import FILLING, Parcel, Spool, SpoolHealth
from sensors.stamps import MILLISECOND, Clock

STRIKES = 3
"""Lines of one series refused, each on its own, before its other lines are set aside unsent."""

PROBES = 8
"""Series set aside of which one line is tried again, in one parcel."""

MOST_REQUESTS = 1_000
"""Requests that finding the refused lines of one parcel may take; what is left then is tried in one piece."""

UNPROVED = 3
"""Proofs in a row that fail before the base stands as one that does not keep what it takes."""

Trouble: TypeAlias = Callable[[bool, str, str], None]
"""Called with (present, code of the worst trouble, detail) when that changes."""


class Lane(Enum):
    """Whose turn it is."""

    LIVE = "live"
    BACKLOG = "backlog"


@dataclass(slots=True)
class Figures:
    """What was done since start."""

    sent: int = 0
    requests: int = 0
    failures: int = 0
    proofs: int = 0
    proved_at: float | None = None


@dataclass(slots=True)
class _Proof:
    """A number on its way: when it is due next, and the one that was written but not seen yet."""

    due: float
    value: int | None = None
    until: float = 0.0
    failed: int = 0


class Sender:
    """Carries one spool to one base. `run` is a part to be supervised; it ends only when cancelled."""

    def __init__(self, spool: Spool, target: Target, pace: Pace, *, depot: str, clock: Clock, trouble: Trouble) -> None:
        self._spool = spool
        self._target = target
        self._pace = pace
        self._depot = depot
        self._probe = prefix("health", {"depot": depot})
        self._clock = clock
        self._trouble = trouble
        self._log = structlog.get_logger("influx")
        self._awake = asyncio.Event()
        self._live_from = spool.newest() + 1
        self._most_points = pace.most_points
        self._struck: dict[Lane, dict[str, int]] = {Lane.LIVE: {}, Lane.BACKLOG: {}}
        self._backlog_after = 0.0
        self._turn = Lane.LIVE
        self._silent_since: float | None = None
        self._pause = pace.first_retry
        self._refusing: tuple[str, str] | None = None
        self._last_refusal: tuple[float, str] | None = None
        self._last_loss: float | None = None
        self._lost = spool.health(0).lost
        self._proof = _Proof(due=0.0)
        self._told = ("", "")
        self._health: SpoolHealth | None = None
        self.figures = Figures()

    def wake(self) -> None:
        """Something was put into the spool; to be called on the loop."""
        self._awake.set()

    async def run(self) -> None:
        """Send until cancelled."""
        async with Base(self._target) as base:
            while True:
                self._awake.clear()
                taken = await asyncio.to_thread(self._take)
                if taken is None:
                    await self._prove(base)
                    await self._look()
                    await self._rest(1.0)
                    continue
                pause = await self._carry(base, *taken)
                await self._prove(base)
                await self._look()
                if pause:
                    await asyncio.sleep(pause)

    # --- one parcel -------------------------------------------------------------------------------

    def _take(self) -> tuple[Lane, Parcel] | None:
        """Choose what goes next. On a thread: it reads the disk."""
        try:
            if self._turn is Lane.BACKLOG and (backlog := self._backlog()) is not None:
                return Lane.BACKLOG, backlog
            live = self._spool.next(self._most_points, first=self._live_from)
            if live is not None and self._age_s(live.since_ms) > self._pace.late:
                self._spool.back()
                self._live_from = self._spool.newest()
                live = self._spool.next(self._most_points, first=self._live_from)
            if live is not None:
                return Lane.LIVE, live
            backlog = self._backlog()
        except apsw.Error as error:
            self._log.error("the spool cannot be read", error=str(error))
            return None
        return None if backlog is None else (Lane.BACKLOG, backlog)

    def _backlog(self) -> Parcel | None:
        if time.monotonic() < self._backlog_after:
            return None
        return self._spool.next(self._most_points, last=self._live_from - 1)

    def _age_s(self, ms: int) -> float:
        return self._clock.now().utc / MILLISECOND / 1000 - ms / 1000

    async def _carry(self, base: Base, lane: Lane, parcel: Parcel) -> float:
        """Send one parcel and settle it. Returns how long to wait before the next request, in seconds."""
        began = time.monotonic()
        self._turn = Lane.LIVE if lane is Lane.BACKLOG else Lane.BACKLOG
        sifting = _Sifting(base, self._struck[lane], parcel.text.decode().split("\n"))
        answer = await sifting.send()
        self.figures.requests += sifting.requests
        if sifting.most_points is not None:
            self._most_points = sifting.most_points
        if answer is not None:
            await asyncio.to_thread(self._spool.back)
            return self._failed(answer)
        refused = len(sifting.refused) + sifting.too_old
        self.figures.sent += parcel.points - refused
        try:
            await asyncio.to_thread(self._spool.done, parcel, sifting.refused, sifting.too_old)
        except apsw.Error as error:  # sent, and sent once more later: the same points again change nothing
            self._log.error("the spool cannot be written", error=str(error))
            await asyncio.to_thread(self._spool.back)
            return self._pace.first_retry
        if refused:
            self._last_refusal = (time.monotonic(), sifting.reason)
            self._log.warning("lines refused", count=refused, reason=sifting.reason)
        await self._answered()
        if lane is Lane.BACKLOG:
            self._backlog_after = began + parcel.points / self._pace.catch_up
            return max(0.0, min(self._backlog_after - time.monotonic(), 0.2))
        return 0.0

    async def _answered(self) -> None:
        """The base takes lines: after a silence everything so far is backlog."""
        if self._silent_since is not None or self._refusing is not None:
            self._live_from = await asyncio.to_thread(self._spool.newest) + 1
            self._log.info("the base takes lines again")
        self._silent_since = self._refusing = None
        self._pause = self._pace.first_retry

    def _failed(self, answer: Answer) -> float:
        self.figures.failures += 1
        if self._silent_since is None:
            self._silent_since = time.monotonic()
            self._log.warning("the base does not take lines", verdict=answer.verdict.value, detail=answer.detail)
        if answer.verdict in (Verdict.CREDENTIALS, Verdict.NO_DATABASE, Verdict.STRANGE):
            self._refusing = (answer.verdict.value, answer.detail)
            return self._pace.refused_retry
        self._refusing = None
        pause, self._pause = self._pause, min(2 * self._pause, self._pace.longest_retry)
        return max(pause, min(answer.retry_after_s or 0.0, 60.0))

    async def _rest(self, seconds: float) -> None:
        """Wait for news of the spool, but no longer than this."""
        wait = seconds
        if self._backlog_after > time.monotonic():
            wait = min(wait, self._backlog_after - time.monotonic())
        try:
            async with asyncio.timeout(max(0.001, wait)):
                await self._awake.wait()
        except TimeoutError:
            return

    # --- proof ------------------------------------------------------------------------------------

    async def _prove(self, base: Base) -> None:
        """Now and then write a number and ask for it: only that shows that a base keeps what it takes."""
        now, proof = time.monotonic(), self._proof
        if self._silent_since is not None or now < proof.due:
            return
        if proof.value is None:
            ms = self._clock.now().utc // MILLISECOND
            value = ms % 1_000_000_007
            answer = await base.write(f"{self._probe} probe={value}i {ms}".encode())
            if answer.verdict is Verdict.ACCEPTED:
                proof.value, proof.until, proof.due = value, now + self._pace.prove_within, now
            else:
                proof.due = now + self._pace.prove
            return
        seen = await base.reads_back("health", "probe", self._depot, proof.value)
        if seen is False and time.monotonic() < proof.until:
            proof.due = time.monotonic() + min(1.0, self._pace.prove_within / 10)
            return
        if seen:
            proof.failed = 0
            self.figures.proofs += 1
            self.figures.proved_at = time.monotonic()
        elif seen is False:
            proof.failed += 1
        proof.value, proof.due = None, time.monotonic() + self._pace.prove

    # --- what is wrong ----------------------------------------------------------------------------

    async def _look(self) -> None:
        """Tell the worst of what is wrong, when it has changed."""
        self._health = health = await asyncio.to_thread(self._spool.health, self._clock.now().utc // MILLISECOND)
        now = time.monotonic()
        if health.lost > self._lost:
            self._lost, self._last_loss = health.lost, now
        told = self._worst(health, now)
        if told[0] != self._told[0]:
            self._told = told
            self._trouble(bool(told[0]), *told)

    def _worst(self, health: SpoolHealth, now: float) -> tuple[str, str]:  # noqa: PLR0911 - worst first, a table
        if self._last_loss is not None:
            if now - self._last_loss < self._pace.refused_for or self._silent_since is not None:
                return "losing", f"{health.lost}"
            self._last_loss = None
        if self._refusing is not None:
            return self._refusing
        if health.fill >= FILLING:
            return "filling", f"{health.fill:.0%}"
        if self._silent_since is not None and now - self._silent_since >= self._pace.unwell_after:
            return "no-answer", ""
        if self._last_refusal is not None and now - self._last_refusal[0] < self._pace.refused_for:
            return "lines", self._last_refusal[1]
        if self._proof.failed >= UNPROVED:
            return "unproved", ""
        return "", ""

    def counts(self) -> dict[str, float]:
        """The figures of this moment: what was sent since the start, what waits, and what the file knows to be lost.

        ``proof_age_s``: since a number was last written and read back; absent before the first.
        """
        health, figures = self._health, self.figures
        counts: dict[str, float] = {
            "sent": figures.sent,
            "requests": figures.requests,
            "failures": figures.failures,
        }
        if health is not None:
            counts |= {
                "spool_points": health.points,
                "spool_bytes": health.bytes,
                "lost": health.lost,
                "refused": health.refused,
            }
        if figures.proved_at is not None:
            counts["proof_age_s"] = round(time.monotonic() - figures.proved_at, 1)
        return counts


class _Sifting:
    """One parcel on its way: whole while that goes well, in halves down to single lines where it does not."""

    def __init__(self, base: Base, struck: dict[str, int], lines: list[str]) -> None:
        self._base = base
        self._struck = struck
        self._lines = lines
        self.refused: list[tuple[str, str]] = []
        self.reason = ""
        self.too_old = 0
        self.requests = 0
        self.most_points: int | None = None

    async def send(self) -> Answer | None:
        """Send everything; None when all lines are settled, else the answer that stopped us (nothing is settled)."""
        good, stop = await self._try_struck()
        if stop is not None:
            return stop
        parts, whole = [good], True
        while parts:
            part = [line for line in parts.pop() if not self._is_struck(line)]
            if not part:
                continue
            answer = await self._write(part)
            match answer.verdict:
                case Verdict.ACCEPTED:
                    self.too_old += answer.too_old
                    self.reason = answer.detail or self.reason
                case Verdict.LINES | Verdict.TOO_LARGE:
                    whole = False
                    self._split(part, answer, parts)
                case _:
                    return answer
        if whole:
            self._struck.clear()
        return None

    async def _write(self, part: list[str]) -> Answer:
        self.requests += 1
        return await self._base.write("\n".join(part).encode())

    def _split(self, part: list[str], answer: Answer, parts: list[list[str]]) -> None:
        middle = len(part) // 2
        if answer.verdict is Verdict.TOO_LARGE and middle:
            self.most_points = min(self.most_points or middle, middle)
        if not middle or self.requests >= MOST_REQUESTS:
            self._set_aside(part, answer.detail)
        else:
            parts += [part[middle:], part[:middle]]

    def _set_aside(self, lines: list[str], reason: str) -> None:
        self.reason = reason
        self.refused += [(line, reason) for line in lines]
        for series in {series_of(line) for line in lines}:
            self._struck[series] = self._struck.get(series, 0) + 1

    def _is_struck(self, line: str) -> bool:
        """Set a line aside unsent if its series was refused too often in this parcel."""
        if not self._struck or self._struck.get(series_of(line), 0) < STRIKES:
            return False
        self.refused.append((line, self.reason))
        return True

    async def _try_struck(self) -> tuple[list[str], Answer | None]:
        """Sort out the lines of series that were refused before; of a few the newest line is tried alone."""
        if not any(count >= STRIKES for count in self._struck.values()):
            return self._lines, None
        good: list[str] = []
        doubtful: dict[str, list[str]] = {}
        for line in self._lines:
            series = series_of(line)
            if self._struck.get(series, 0) >= STRIKES:
                doubtful.setdefault(series, []).append(line)
            else:
                good.append(line)
        for series in [name for name in self._struck if name in doubtful][:PROBES]:
            answer = await self._write(doubtful[series][-1:])
            count = self._struck.pop(series)
            if answer.verdict is Verdict.ACCEPTED:
                good += doubtful.pop(series)
            elif answer.verdict in (Verdict.LINES, Verdict.TOO_LARGE):
                self._struck[series] = count  # to the end of the queue: the next ones are tried next time
                self.reason = answer.detail
            else:
                self._struck[series] = count
                return good, answer
        self.refused += [(line, self.reason or "as before") for lines in doubtful.values() for line in lines]
        return good, None
