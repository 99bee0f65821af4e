"""Whose turn it is on a Modbus line, what an answer means, and who is silent. Is told the time; knows no socket.

The hard case it is made for: a gateway that serves one request at a time and itself waits, up to a second, for a unit
that is mute. While it is stuck everybody is late, so lateness alone proves nothing:

- Only the oldest request's clock runs; it starts anew when the one before it was answered.
- When a request runs out of time the line is *in doubt*. Only a unit that answered lately is asked then, as a witness,
  and held, not failed, until the line shows life (any answer, a late one too) or `MUTE_S` prove the connection dead.
- If the line was stuck, all who answered lately go first, and what was about to be tried again is not.
- Silent units are asked one at a time, when nobody else waits (see `silent`).
"""

from collections.abc import Callable, Sequence
from math import inf
from typing import Final

from sensors.drivers.commands import Command, Commands, Done
from sensors.drivers.exchanges import NEVER, Counters, Poll
from sensors.drivers.silent import Silent
from sensors.drivers.strays import Exchange, Strays, Trickle
from sensors.drivers.turns import Turns
from sensors.readings import Scan, Status
from sensors.stamps import Clock
from sensors.wire.modbus import Head, Match, match, request
from sensors.wire.registers import Block

MUTE_S: Final = 1.2
"""A connection on which nobody has answered for so long, though asked, is dead or half open."""

FRESH_S: Final = 4.0
"""How long a new connection of many units may give no answer: it is not half open, but its first may be mute."""

QUICK_REFUSAL_S: Final = 0.05
"""A gateway that takes longer than this to say "no answer from the device" (exceptions 10 and 11) blocks the line."""

GATEWAY_CODES: Final = frozenset({10, 11})


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
        self._turns = Turns(blocks, self.counters)
        self._timeout_s = timeout_s
        self._period_s = period_s
        self._window = window if strict_ids else 1
        self._fresh_s = min(MUTE_S * len(blocks), FRESH_S)
        self._strict_ids = strict_ids
        self._id = first_id
        self._clock = clock
        self._on_scan = on_scan
        self._write: Callable[[bytes], None] | None = None
        self._flights: dict[int, Exchange] = {}
        self._commands = Commands(self.counters)
        self._silent = Silent(timeout_s, self.counters)
        self._strays = Strays(self.counters)
        self._head_clock = NEVER
        self._doubt_until = NEVER
        self._slot_end = NEVER
        self._opened_at = NEVER
        self._trickle = Trickle(timeout_s)

    # --- time passes

    def slot(self, now: float) -> None:
        """A new slot begins: everybody's turn, the silent excepted, who are reported as such."""
        self._slot_end = now + self._period_s
        self._strays.new_slot()
        if self._write is None:
            for poll in self._turns.polls if self.reason else ():
                self._publish(poll, Status.NO_CONTACT, self.reason)
            return
        for poll in tuple(self._silent.polls):
            self._publish(poll, poll.status, poll.reason)
        self._turns.new_slot()
        if self._turns.queue:
            self._silent.delays(now)

    def sweep(self, now: float) -> str:
        """Fail what has run out of time. Returns why the connection must be closed, or nothing."""
        if self._write is None:
            self._commands.expire(now, self.reason)
        if self._trickle.begun and not self._flights and now >= self._trickle.due():
            return "garbled"
        while self._flights:
            oldest_id = next(iter(self._flights))
            oldest = self._flights[oldest_id]
            if now < self._due_of(oldest):
                return ""
            if self._trickle.begun:
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
        return bool(self._flights or (self._commands.queue and self._write is None))

    @property
    def wants_to_send(self) -> bool:
        """Whether `pump` has anything to do."""
        return bool(self._turns.queue or self._commands.queue or self._silent.polls)

    def due(self) -> float:
        """When `sweep` must be called next, at the latest (loop seconds)."""
        if self._flights:
            return self._due_of(self._flights[next(iter(self._flights))])
        return self._commands.expires() if self._write is None else inf

    def pump(self, now: float) -> None:
        """Send what is next, as far as the line takes it: commands, then polls in turn, then one probe."""
        while self._write is not None and len(self._flights) < self._window:
            exchange: Exchange | None
            if self._commands.queue:
                exchange = self._commands.queue.popleft()
            elif self._doubt_until != NEVER:
                exchange = self._witness()
            elif self._turns.queue:
                exchange = self._turns.queue.popleft()
            else:
                exchange = None if self._flights else self._silent.due(now, self._slot_end)
            if exchange is None:
                return
            self._send(exchange, now)

    # --- the connection comes and goes

    def opened(self, write: Callable[[bytes], None], now: float, *, anew: bool) -> None:
        """There is a connection. `anew`: it follows a failure, so everybody gets a turn at once, the silent too."""
        self._write = write
        self.answered = False
        self._trickle.ended()
        if anew:
            self._opened_at = now
            self._silent.may_speak(now, all_of_them=len(self._silent.polls) == len(self._turns.polls))
            self._doubt_until = NEVER
            self._turns.begin_all()
        self.pump(now)

    def closed(self, reason: str, now: float, *, on_purpose: bool = False) -> None:
        """The connection is gone; what was in flight has had one attempt. `on_purpose`: the turn goes on."""
        self._write = None
        self.reason = reason
        if on_purpose:
            return
        flights, self._flights = list(self._flights.values()), {}
        self._strays.clear()
        self._silent.forget_probe()
        self._turns.end_all()
        for exchange in flights:
            why = "garbled" if exchange.garbled else reason
            if isinstance(exchange, Command):
                self._commands.again(exchange, why)
            elif exchange.trusted:
                exchange.attempt, exchange.idle = 2, True
            else:
                self._fail(exchange, why, now)

    def stopped(self) -> None:
        """The line is given up on purpose: nothing is told of the heads, but nobody is left waiting for a command."""
        self._write = None
        self.reason = ""
        flights, self._flights = list(self._flights.values()), {}
        for exchange in [*flights, *self._turns.queue]:
            if isinstance(exchange, Command):
                self._commands.failed(exchange, "stopped")
            else:
                exchange.end()
        self._turns.queue.clear()
        self._strays.clear()
        self._silent.forget_probe()
        self._commands.stop()

    def receiving(self, now: float, *, partial: bool) -> None:
        """Bytes came; `partial` says that a frame has begun and not ended."""
        if partial:
            self._trickle.more(now)
        else:
            self._trickle.ended()

    # --- frames and commands come in

    def answer(self, head: Head, buffer: bytearray, start: int, now: float) -> str:
        """Take one whole frame. Returns why the connection must be closed, or nothing."""
        self._trickle.ended()
        key = head[0] if self._strict_ids else next(iter(self._flights), -1)
        exchange = self._flights.get(key)
        if exchange is None:
            return self._unasked(key, now)
        verdict = match(exchange.ask, head, buffer, start)
        if verdict is Match.ANSWER or verdict is Match.EXCEPTION:
            oldest = self._window == 1 or key == next(iter(self._flights))
            del self._flights[key]
            self.answered = True
            if self._doubt_until != NEVER:
                self._line_lives(now, exchange.sent)
            else:
                self._silent.line_goes_on(now)
            if oldest:
                self._head_clock = now
            if verdict is Match.EXCEPTION:
                self.counters.exceptions += 1
                self._refused(exchange, head[5], now)
            elif isinstance(exchange, Poll):
                self.counters.answers += 1
                self._answered(exchange, buffer, start + 9, now)
            else:
                self._commands.answered(exchange, buffer[start + 9])
            return ""
        if verdict is Match.FOREIGN:
            return self._strays.foreign()
        self.counters.garbled += 1
        exchange.garbled = True
        return "garbled" if verdict is Match.OUT_OF_STEP else ""

    def command(self, unit: int, coil: int, on: bool | None, done: Done, now: float) -> None:
        """Queue a coil command in front of all polls; `on` None only reads it."""
        self._commands.add(Command(unit, coil, on, done, now))
        self.pump(now)

    # --- details: time

    def _due_of(self, oldest: Exchange) -> float:
        due = max(self._head_clock, oldest.sent) + self._timeout_s
        if self._doubt_until != NEVER and (oldest.trusted or oldest.heard == NEVER):
            due = max(due, self._doubt_until)
        return max(due, self._trickle.due()) if self._trickle.begun else due

    def _expired(self, exchange: Exchange, key: int, now: float) -> str:
        self.counters.timeouts += 1
        in_doubt = self._doubt_until != NEVER
        if not in_doubt:
            self._doubt_until = max(self._head_clock, exchange.sent) + MUTE_S
        exchange.cascade = in_doubt
        self._head_clock = now
        if self._strict_ids:
            self._strays.remember(key, exchange)
        why = "garbled" if exchange.garbled else "timeout"
        if isinstance(exchange, Command):
            self._commands.again(exchange, why)
        elif exchange.trusted and self._strict_ids:
            self.counters.retries += 1
            self._turns.again(exchange)
        else:
            self._fail(exchange, why, now)
        if now >= self._doubt_until:
            if self.answered or now - self._opened_at >= self._fresh_s:
                return "mute"
            self._doubt_until = now + MUTE_S
        # Without ids a late answer could pass for the next one: only a new connection is sure not to bring it.
        return "" if self._strict_ids else "late-guard"

    def _line_lives(self, now: float, answered_sent: float) -> None:
        """Something answered after a doubt: let the stuck ones go on, and count what it cost."""
        self._doubt_until = NEVER
        if now - answered_sent > self._timeout_s:
            self.counters.stalls += 1
            for poll in self._turns.after_stall():
                self._fail(poll, "timeout", now)
            self._silent.delays(answered_sent)
        self._silent.line_goes_on(now)

    def _witness(self) -> Poll | None:
        """While in doubt only one who answered lately is asked: its answer, or its silence, says most of the line."""
        alone = not self._flights
        witness = self._turns.witness(alone=alone)
        if witness is None and alone and self._silent.polls and not any(self._turns.idle_witnesses()):
            return self._silent.probe()  # nobody is left to ask: does anyone answer on this connection?
        return witness

    def _send(self, exchange: Exchange, now: float) -> None:
        self._id = key = (self._id + 1) & 0xFFFF
        exchange.sent = now
        if not self._flights:
            self._head_clock = now
        self._flights[key] = exchange
        self._strays.reused(key)
        self.counters.polls += 1
        if self._write is not None:
            self._write(request(exchange.ask, key))

    # --- details: answers

    def _answered(self, poll: Poll, buffer: bytearray, base: int, now: float) -> None:
        if len(poll.block.asks) > 1:
            if poll.collect(buffer, base):
                self._turns.queue.appendleft(poll)
                return
            buffer, base = poll.words, 0
        stamp = self._clock.now()
        readings = poll.block.readings(buffer, base, stamp)
        poll.end()
        self._alive(poll, now)
        if poll.owed:
            # It was still waiting when its next slot began: that turn follows at once, so that its mean period is kept.
            poll.owed = False
            self._turns.begin(poll)
        self._on_scan(Scan(self._source, readings, stamp))

    def _alive(self, poll: Poll, now: float) -> None:
        poll.heard = now
        poll.failures = 0
        if poll.silent:
            self._silent.remove(poll)

    def _refused(self, exchange: Exchange, code: int, now: float) -> None:
        """An exception answer: the unit lives (unless its gateway speaks for it) but gives no value."""
        reason = f"exception-{code}"
        if isinstance(exchange, Command):
            self._commands.failed(exchange, reason)
            return
        apart = exchange.block.split()
        if len(apart) > 1 or apart[0] is not exchange.block:
            self._split(exchange, apart)
            return
        exchange.rewind()
        self._publish(exchange, Status.FAULT, reason)
        exchange.end()
        if code in GATEWAY_CODES and now - exchange.sent > QUICK_REFUSAL_S:
            self._silent.count_failure(exchange, Status.FAULT, reason, now)
        else:
            self._alive(exchange, now)

    def _split(self, poll: Poll, apart: Sequence[Block]) -> None:
        """The unit refuses a merged read: ask head by head from now on, so that one bad address spoils no other."""
        self.counters.splits += 1
        if poll.silent:
            self._silent.remove(poll)
        self._strays.forget(poll)
        self._turns.replace(poll, apart)

    def _unasked(self, key: int, now: float) -> str:
        late = self._strays.recognise(key)
        if late is None:
            return self._strays.foreign()
        # Its value is not used, but it proves that the line lives, and that a unit which only waited its turn does too.
        self.answered = True
        self._head_clock = now
        if self._doubt_until != NEVER:
            oldest = late if late.cascade else next(iter(self._flights.values()), late)
            self._line_lives(now, oldest.sent)
        if late.cascade and isinstance(late, Poll):
            self._alive(late, now)
            if late.idle:
                self._turns.begin(late)
        return ""

    # --- details: failures

    def _fail(self, poll: Poll, reason: str, now: float) -> None:
        was_silent = poll.silent
        poll.rewind()
        poll.end()
        if not was_silent:
            self._publish(poll, Status.NO_CONTACT, reason)
        self._silent.count_failure(poll, Status.NO_CONTACT, reason, now)

    def _publish(self, poll: Poll, status: Status, reason: str) -> None:
        stamp = self._clock.now()
        self._on_scan(Scan(self._source, poll.without_value(status, reason, stamp), stamp))
