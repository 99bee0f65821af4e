"""Whose turn it is on a Modbus line, what an answer means, and who is silent. Is told the time; knows no socket.

The hard case it is made for: a gateway that serves one request at a time and itself waits, up to a second, for a unit
that is mute. While it is stuck everybody is late, so lateness alone proves nothing:

- Only the oldest request's clock runs; it starts anew when the one before it was answered.
- When a request runs out of time the line is *in doubt*. Only a unit that answered lately is asked then, as a witness,
  and held, not failed, until the line shows life (any answer, a late one too) or `MUTE_S` prove the connection dead.
- If the line was stuck, all who answered lately go first, and what was about to be tried again is not.
- Silent units are asked one at a time, when nobody else waits; what such a probe cost the others is paid back by
  `PROBE_REST` times as long without one.
"""

from collections import deque
from collections.abc import Callable, Sequence
from math import ceil, inf
from typing import Final

from sensors.drivers.exchanges import NEVER, Command, Counters, Done, Exchange, Poll
from sensors.quality import silence, unusable
from sensors.readings import Scan, Status
from sensors.stamps import Clock
from sensors.wire.modbus import WRITE_COIL, Head, Match, match, request
from sensors.wire.registers import Block

MUTE_S: Final = 1.2
"""A connection on which nobody has answered for so long, though asked, is dead or half open."""

TRICKLE_S: Final = 2.0
"""An answer that has begun may take so long in all, as long as its bytes keep coming."""

FAILURES_TO_SILENCE: Final = 2
"""Turns in a row without an answer after which a unit is only probed. A unit never heard gets one."""

BACKOFF_FIRST_S: Final = 1.0
BACKOFF_LAST_S: Final = 5.0
PROBE_REST: Final = 25.0
"""Delay caused to live units by a probe x this = rest for the line: probing costs them at most 4 % of the time."""

FREE_DELAY: Final = 0.1
"""A delay of more than this part of a period may cost a whole one: somebody misses the slot."""

FRESH_S: Final = 4.0
"""How long a new connection may be without any answer: it cannot be half open, but its first units may all be mute."""

PROBE_OVERDUE_S: Final = 2.0
"""A line without an idle gap probes all the same when a probe is so late."""

QUICK_REFUSAL_S: Final = 0.05
"""A gateway that takes longer than this to say "no answer from the device" (exceptions 10 and 11) blocks the line."""

GATEWAY_CODES: Final = frozenset({10, 11})
MAX_LATE: Final = 64
"""Requests out of time whose late answers are still recognised."""

MAX_NOISE: Final = 1000
"""Frames nobody asked for in one slot; beyond it the connection is given up."""

MAX_COMMANDS: Final = 64
COMMAND_S: Final = 1.0
"""A command that could not be sent for so long (no connection) fails."""


class Line:
    """The polls and commands of one bus, on whatever connection it has at the moment."""

    def __init__(
        self,
        source: str,
        blocks: Sequence[Block],
        *,
        timeout_s: float,
        period_s: float,
        window: int,
        strict_ids: bool,
        first_id: int,
        clock: Clock,
        on_scan: Callable[[Scan], None],
    ) -> None:
        self.counters = Counters()
        self.reason = ""
        self.answered = False
        self._source = source
        self._polls = [Poll(block) for block in blocks]
        self._timeout_s = timeout_s
        self._period_s = period_s
        self._window = window if strict_ids else 1
        self._strict_ids = strict_ids
        self._id = first_id
        self._clock = clock
        self._on_scan = on_scan
        self._write: Callable[[bytes], None] | None = None
        self._flights: dict[int, Exchange] = {}
        self._queue: deque[Poll] = deque()
        self._commands: deque[Command] = deque()
        self._silent: list[Poll] = []
        self._late: dict[int, Exchange] = {}
        self._head_clock = NEVER
        self._doubt_since = NEVER
        self._doubt_until = NEVER
        self._probe: Poll | None = None
        self._delayed_since = NEVER
        self._next_probe = NEVER
        self._slot_end = NEVER
        self._opened_at = NEVER
        self._frame_since = NEVER
        self._frame_byte = NEVER
        self._noise = 0

    # --- time passes

    def slot(self, now: float) -> None:
        """A new slot begins: everybody's turn, the silent excepted, who are reported as such."""
        self._slot_end = now + self._period_s
        self._noise = 0
        if self._write is None:
            if self.reason:
                self._report_down()
            return
        if self._silent:
            self._report_silent()
        doubtful: list[Poll] = []
        for poll in self._polls:
            if not poll.idle:
                self.counters.overruns += not poll.silent
            elif poll.silent:
                continue
            elif poll.failures or poll.heard == NEVER:
                doubtful.append(poll)
            else:
                poll.begin()
                self._queue.append(poll)
        for poll in doubtful:
            poll.begin()
        self._queue.extend(doubtful)
        if self._probe is not None and self._queue and self._delayed_since == NEVER:
            self._delayed_since = now

    def sweep(self, now: float) -> str:
        """Fail what has run out of time. Returns why the connection must be closed, or nothing."""
        while self._commands and self._write is None and self._commands[0].expires <= now:
            self._command_failed(self._commands.popleft(), self.reason)
        if self._frame_since != NEVER and not self._flights and now >= self._frame_byte + self._timeout_s:
            return "garbled"
        while self._flights:
            oldest_id = next(iter(self._flights))
            oldest = self._flights[oldest_id]
            if now < self._due_of(oldest):
                return ""
            if self._frame_since != NEVER:
                oldest.garbled = True
                self.counters.garbled += 1
                return "garbled"
            del self._flights[oldest_id]
            trouble = self._expired(oldest, oldest_id, now)
            if trouble:
                return trouble
        return ""

    @property
    def waits(self) -> bool:
        """Whether anything is in flight, or a command waits for a connection."""
        return bool(self._flights or (self._commands and self._write is None))

    @property
    def wants_to_send(self) -> bool:
        """Whether `pump` has anything to do."""
        return bool(self._queue or self._commands or self._silent)

    def due(self) -> float:
        """When `sweep` must be called next, at the latest (loop seconds)."""
        if self._flights:
            return self._due_of(self._flights[next(iter(self._flights))])
        if self._commands and self._write is None:
            return self._commands[0].expires
        return inf

    def pump(self, now: float) -> None:
        """Send what is next, as far as the line takes it: commands, then polls in turn, then one probe."""
        while self._write is not None and len(self._flights) < self._window:
            exchange: Exchange | None
            if self._commands:
                exchange = self._commands.popleft()
            elif self._doubt_until != NEVER:
                exchange = self._witness()
            elif self._queue:
                exchange = self._queue.popleft()
            else:
                exchange = self._due_probe(now)
            if exchange is None:
                return
            self._send(exchange, now)

    # --- the connection comes and goes

    def opened(self, write: Callable[[bytes], None], now: float, *, anew: bool) -> None:
        """There is a connection. `anew`: it follows a failure, so everybody gets a turn at once, the silent too."""
        self._write = write
        self.answered = False
        self._frame_since = NEVER
        if anew:
            self._opened_at = now
            self._let_silent_speak(now)
            self._doubt_since = self._doubt_until = NEVER
            for poll in sorted(self._polls, key=lambda each: each.failures > 0):
                if poll.idle and not poll.silent:
                    poll.begin()
                    self._queue.append(poll)
        self.pump(now)

    def _let_silent_speak(self, now: float) -> None:
        """On a new connection all may be well again: ask at once if nobody spoke any more, else probe soon."""
        for poll in self._silent:
            poll.backoff, poll.probe_at = BACKOFF_FIRST_S, now
        if len(self._silent) == len(self._polls):
            for poll in self._silent:
                poll.silent, poll.failures = False, 1
            self._silent.clear()

    def closed(self, reason: str, now: float, *, on_purpose: bool = False) -> None:
        """The connection is gone; what was in flight has had one attempt. `on_purpose`: the turn goes on."""
        self._write = None
        self.reason = reason
        if on_purpose:
            return
        flights, self._flights = list(self._flights.values()), {}
        self._late.clear()
        self._probe, self._delayed_since = None, NEVER
        for poll in self._queue:
            poll.idle = True
        self._queue.clear()
        for exchange in flights:
            why = "garbled" if exchange.garbled else reason
            if isinstance(exchange, Command):
                self._command_again(exchange, why)
            elif exchange.trusted:
                exchange.attempt, exchange.idle = 2, True
            else:
                self._fail(exchange, why, now)

    def receiving(self, now: float, *, partial: bool) -> None:
        """Bytes came; `partial` says that a frame has begun and not ended."""
        if not partial:
            self._frame_since = NEVER
            return
        if self._frame_since == NEVER:
            self._frame_since = now
        self._frame_byte = now

    # --- frames and commands come in

    def answer(self, head: Head, buffer: bytearray, start: int, now: float) -> str:
        """Take one whole frame. Returns why the connection must be closed, or nothing."""
        self._frame_since = NEVER
        key = head[0] if self._strict_ids else next(iter(self._flights), -1)
        exchange = self._flights.get(key)
        if exchange is None:
            return self._unasked(key, now)
        verdict = match(exchange.ask, head, buffer, start)
        if verdict is Match.ANSWER or verdict is Match.EXCEPTION:
            del self._flights[key]
            self.answered = True
            if self._doubt_until != NEVER:
                self._line_lives(now, exchange.sent)
            elif exchange is self._probe:
                self._probe_cost(now)
            self._head_clock = now
            if verdict is Match.EXCEPTION:
                self.counters.exceptions += 1
                self._refused(exchange, head[5], now)
            elif isinstance(exchange, Poll):
                self.counters.answers += 1
                self._answered(exchange, buffer, start + 9, now)
            else:
                self._coil_answered(exchange, buffer[start + 9])
            return ""
        if verdict is Match.FOREIGN:
            self.counters.foreign += 1
            return self._noisy()
        self.counters.garbled += 1
        exchange.garbled = True
        return "garbled" if verdict is Match.OUT_OF_STEP else ""

    def command(self, unit: int, coil: int, on: bool | None, done: Done, now: float) -> None:
        """Queue a coil command in front of all polls."""
        self.counters.commands += 1
        command = Command(unit, coil, on, done, now + COMMAND_S)
        if len(self._commands) >= MAX_COMMANDS:
            self._command_failed(command, "queue-full")
            return
        self._commands.append(command)
        self.pump(now)

    # --- details: time

    def _due_of(self, oldest: Exchange) -> float:
        due = max(self._head_clock, oldest.sent) + self._timeout_s
        if self._doubt_until != NEVER and (oldest.trusted or oldest.heard == NEVER):
            due = max(due, self._doubt_until)
        if self._frame_since != NEVER:
            due = max(due, min(self._frame_byte + self._timeout_s, self._frame_since + TRICKLE_S))
        return due

    def _expired(self, exchange: Exchange, key: int, now: float) -> str:
        self.counters.timeouts += 1
        in_doubt = self._doubt_until != NEVER
        if not in_doubt:
            self._doubt_since = max(self._head_clock, exchange.sent)
            self._doubt_until = self._doubt_since + MUTE_S
        exchange.cascade = in_doubt
        self._head_clock = now
        if self._strict_ids:
            self._late[key] = exchange
            if len(self._late) > MAX_LATE:
                del self._late[next(iter(self._late))]
        why = "garbled" if exchange.garbled else "timeout"
        if isinstance(exchange, Command):
            self._command_again(exchange, why)
        elif exchange.trusted and self._strict_ids:
            self.counters.retries += 1
            exchange.rewind()
            exchange.attempt = 2
            self._queue.append(exchange)
        else:
            self._fail(exchange, why, now)
        if now >= self._doubt_until:
            if self.answered or now - self._opened_at >= FRESH_S:
                return "mute"
            self._doubt_until = now + MUTE_S
        # Without ids a late answer could pass for the next one: only a new connection is sure not to bring it.
        return "" if self._strict_ids else "late-guard"

    def _line_lives(self, now: float, answered_sent: float) -> None:
        """Something answered after a doubt: let the stuck ones go on, and count what it cost."""
        self._doubt_since = self._doubt_until = NEVER
        if now - answered_sent > self._timeout_s:
            self.counters.stalls += 1
            waiting = [poll for poll in self._queue if poll.attempt == 1]
            given_up = [poll for poll in self._queue if poll.attempt == 2]
            self._queue = deque(sorted(waiting, key=lambda poll: not poll.trusted))
            for poll in given_up:
                self._fail(poll, "timeout", now)
            if self._probe is not None and self._delayed_since == NEVER:
                self._delayed_since = answered_sent
        self._probe_cost(now)

    def _probe_cost(self, now: float) -> None:
        """The probe is over and the line goes on: rest in proportion to what it delayed."""
        if self._probe is not None and self._delayed_since != NEVER:
            cost = now - self._delayed_since
            if cost > self._period_s * FREE_DELAY:
                cost = ceil(cost / self._period_s) * self._period_s
            self._next_probe = now + cost * PROBE_REST
        self._probe, self._delayed_since = None, NEVER

    def _witness(self) -> Poll | None:
        """While in doubt only one who answered lately is asked: its answer, or its silence, says most of the line."""
        for poll in self._queue:
            if poll.trusted:
                self._queue.remove(poll)
                return poll
        if self._flights:
            return None
        idle = [poll for poll in self._polls if poll.idle and poll.trusted]
        if idle:
            witness = min(idle, key=lambda each: each.heard)
            witness.begin()
            return witness
        if self._queue:
            return self._queue.popleft()
        return self._begin_probe() if self._silent else None

    def _due_probe(self, now: float) -> Poll | None:
        """The silent poll whose time has come, if the gap before the next slot is long enough for its silence."""
        if not self._silent or self._flights or now < self._next_probe:
            return None
        due = min(poll.probe_at for poll in self._silent)
        fits = now + self._timeout_s <= self._slot_end or now - due > PROBE_OVERDUE_S
        return self._begin_probe() if now >= due and fits else None

    def _begin_probe(self) -> Poll:
        self.counters.probes += 1
        self._probe = min(self._silent, key=lambda each: each.probe_at)
        self._probe.begin()
        return self._probe

    def _send(self, exchange: Exchange, now: float) -> None:
        self._id = key = (self._id + 1) & 0xFFFF
        exchange.sent = now
        if not self._flights:
            self._head_clock = now
        self._flights[key] = exchange
        self._late.pop(key, None)
        self.counters.polls += 1
        if self._write is not None:
            self._write(request(exchange.ask, key))

    # --- details: answers

    def _answered(self, poll: Poll, buffer: bytearray, base: int, now: float) -> None:
        block = poll.block
        if len(block.asks) > 1:
            poll.words += buffer[base : base + poll.ask.third]
            poll.part += 1
            if poll.part < len(block.asks):
                poll.ask = block.asks[poll.part]
                self._queue.appendleft(poll)
                return
            buffer, base = poll.words, 0
        stamp = self._clock.now()
        readings = block.readings(buffer, base, stamp)
        poll.end()
        self._alive(poll, now)
        self._on_scan(Scan(self._source, readings, stamp))

    def _alive(self, poll: Poll, now: float) -> None:
        poll.heard = now
        poll.failures = 0
        if poll.silent:
            poll.silent = False
            self._silent.remove(poll)

    def _refused(self, exchange: Exchange, code: int, now: float) -> None:
        """An exception answer: the unit lives (unless its gateway speaks for it) but gives no value."""
        reason = f"exception-{code}"
        if isinstance(exchange, Command):
            self._command_failed(exchange, reason)
            return
        apart = exchange.block.split()
        if len(apart) > 1 or apart[0] is not exchange.block:
            self._split(exchange, apart)
            return
        exchange.rewind()
        self._publish(exchange, Status.FAULT, reason)
        exchange.end()
        if code in GATEWAY_CODES and now - exchange.sent > QUICK_REFUSAL_S:
            self._count_failure(exchange, Status.FAULT, reason, now)
        else:
            self._alive(exchange, now)

    def _split(self, poll: Poll, apart: Sequence[Block]) -> None:
        """The unit refuses a merged read: ask head by head from now on, so that one bad address spoils no other."""
        self.counters.splits += 1
        if poll.silent:
            self._silent.remove(poll)
        place = self._polls.index(poll)
        fresh = [Poll(block) for block in apart]
        self._polls[place : place + 1] = fresh
        for each in fresh:
            each.heard, each.failures = poll.heard, poll.failures
            each.begin()
        self._queue.extend(fresh)

    def _unasked(self, key: int, now: float) -> str:
        late = self._late.pop(key, None)
        if late is None:
            self.counters.foreign += 1
            return self._noisy()
        # Its value is not used, but it proves that the line lives, and that a unit which only waited its turn does too.
        self.counters.late += 1
        self.answered = True
        self._head_clock = now
        if self._doubt_until != NEVER:
            oldest = late if late.cascade else next(iter(self._flights.values()), late)
            self._line_lives(now, oldest.sent)
        if late.cascade and isinstance(late, Poll):
            self._alive(late, now)
            if late.idle:
                late.begin()
                self._queue.append(late)
        return ""

    def _noisy(self) -> str:
        self._noise += 1
        return "flood" if self._noise > MAX_NOISE else ""

    def _coil_answered(self, command: Command, byte: int) -> None:
        if command.ask.function == WRITE_COIL:
            command.read_back()
            self._commands.appendleft(command)
        else:
            command.done(bool(byte & 1), "")

    # --- details: failures

    def _fail(self, poll: Poll, reason: str, now: float) -> None:
        was_silent = poll.silent
        poll.rewind()
        poll.end()
        if not was_silent:
            self._publish(poll, Status.NO_CONTACT, reason)
        self._count_failure(poll, Status.NO_CONTACT, reason, now)

    def _count_failure(self, poll: Poll, status: Status, reason: str, now: float) -> None:
        poll.status, poll.reason = status, reason
        poll.failures += 1
        if poll.silent:
            poll.backoff = min(poll.backoff * 2, BACKOFF_LAST_S)
        elif poll.failures >= FAILURES_TO_SILENCE or poll.heard == NEVER:
            poll.silent = True
            poll.backoff = BACKOFF_FIRST_S
            self._silent.append(poll)
        poll.probe_at = now + poll.backoff

    def _command_again(self, command: Command, reason: str) -> None:
        if command.attempt == 1:
            self.counters.retries += 1
            command.attempt = 2
            self._commands.appendleft(command)
        else:
            self._command_failed(command, reason)

    def _command_failed(self, command: Command, reason: str) -> None:
        self.counters.commands_failed += 1
        command.done(None, reason)

    def _publish(self, poll: Poll, status: Status, reason: str) -> None:
        stamp, heads = self._clock.now(), poll.block.heads
        if status is Status.NO_CONTACT:
            readings = [silence(head.detector, reason, stamp) for head in heads]
        else:
            readings = [unusable(head.detector, status, reason, None, stamp) for head in heads]
        self._on_scan(Scan(self._source, tuple(readings), stamp))

    def _report_silent(self) -> None:
        for poll in tuple(self._silent):
            self._publish(poll, poll.status, poll.reason)

    def _report_down(self) -> None:
        for poll in self._polls:
            self._publish(poll, Status.NO_CONTACT, self.reason)
