"""Whose turn it is on a Modbus line, what an answer means, and who is silent. Is told the time; knows no socket.

The hard case it is made for: a gateway that serves one request at a time and itself waits, up to a second, for a unit
that is mute. While it is stuck everybody is late, so lateness alone proves nothing:

- Only the oldest request's clock runs; it starts anew when the one before it was answered.
- When a request runs out of time the line is *in doubt*. Only a unit that answered lately is asked then, as a witness,
  and held, not failed, until the line shows life (any answer, a late one too) or `MUTE_S` prove the connection dead.
  Whoever was in flight behind the first has done nothing: it is asked again as if for the first time.
- A connection given up so is followed by one that begins in doubt: the gateway may be stuck still.
- If the line was stuck, all who answered lately go first, and what is to be tried again goes last, or, where several
  were in flight, is not.
- Silent units are asked one at a time, when nobody else waits (see `silent`).

A line of RTU frames has no ids, and one request in flight. There a late answer is kept from passing for the next one by
holding its unit for a while, and nothing is sent before the line is silent (see `quiet`).
"""

from collections.abc import Callable, Sequence
from math import inf
from typing import Final

from sensors.drivers.commands import Command, Commands, Done, Readable
from sensors.drivers.doubt import OF_THE_LINE, Doubt
from sensors.drivers.exchanges import NEVER, Counters, Poll
from sensors.drivers.outcomes import Outcomes
from sensors.drivers.quiet import Quiet
from sensors.drivers.silent import Silent
from sensors.drivers.strays import Exchange, Strays, Trickle
from sensors.drivers.turns import Held, Turns
from sensors.readings import Scan, Status
from sensors.stamps import Clock
from sensors.wire.modbus import Ask, Head, Match, match, next_transaction
from sensors.wire.registers import Block
from sensors.wire.rtu import SMALLEST

VAIN_GLANCES: Final = 3
"""So many glances without an answer in a row, on a line without heads, and its connection may be half open."""


class Line:
    """The polls and commands of one bus, on whatever connection it has at the moment."""

    __slots__ = (
        "_commands",
        "_doubt",
        "_false_id",
        "_flights",
        "_id",
        "_lost",
        "_noise",
        "_outcomes",
        "_period_s",
        "_quiet",
        "_rtu",
        "_silent",
        "_slot_end",
        "_strays",
        "_strict_ids",
        "_timeout_s",
        "_trickle",
        "_turns",
        "_vain",
        "_wary",
        "_window",
        "_write",
        "answered",
        "counters",
        "reason",
    )

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
        quiet: Quiet | None = None,
        rtu: bool = False,
    ) -> None:
        """`quiet` None: requests may follow each other at once. `rtu`: frames have no ids, and noise closes nothing."""
        self.counters = Counters()
        self.reason = ""
        self.answered = False
        self._lost = False
        self._wary = False
        self._turns = Turns(blocks, self.counters)
        self._timeout_s = timeout_s
        self._period_s = period_s
        self._window = window if strict_ids else 1
        self._strict_ids = strict_ids
        self._quiet = quiet
        self._rtu = rtu
        self._id = first_id
        self._write: Callable[[Ask, int], None] | None = None
        self._flights: dict[int, Exchange] = {}
        self._commands = Commands(self.counters)
        self._silent = Silent(timeout_s, self.counters, self._turns.polls, gateway=not rtu)
        self._strays = Strays(self.counters)
        self._outcomes = Outcomes(source, self._turns, self._silent, clock, on_scan, self.counters)
        self._doubt = Doubt(timeout_s, len(blocks), rtu=rtu)
        self._slot_end = NEVER
        self._trickle = Trickle(timeout_s)
        self._noise = 0
        self._vain = 0
        self._false_id = ""

    # --- time passes

    def slot(self, now: float) -> None:
        """A new slot begins: everybody's turn, the silent excepted, who are reported as such."""
        self._slot_end = now + self._period_s
        if self._strays.noisy:
            self._strays.new_slot()
        if self._commands.glances:
            self._commands.give_up_glances(now)
        if self._write is None:
            for poll in self._turns.polls if self.reason else ():
                self._outcomes.publish(poll, Status.NO_CONTACT, self.reason)
            return
        if self._silent.dead:
            self._silent.new_slot(self._period_s)
        if self._silent.polls:
            for poll in tuple(self._silent.polls):
                self._outcomes.publish(poll, poll.status, poll.reason)
        self._turns.new_slot()
        if self._silent.probed is not None and self._turns.queue:
            self._silent.delays(now)

    def sweep(self, now: float) -> str:
        """Fail what has run out of time. Returns why the connection must be closed, or nothing."""
        if self._write is None:
            self._commands.expire(now, self.reason)
        if self._quiet is not None and self._write is not None and self._quiet.babbles(now):
            return "garbled"
        if self._trickle.begun and not self._flights and now >= self._trickle.due():
            if not self._rtu:
                return "garbled"
            self._trickle.ended()
        while self._flights:
            oldest_id = next(iter(self._flights))
            oldest = self._flights[oldest_id]
            due = self._due_of(oldest)
            if now < due or self._doubt.excuses(oldest, due, now):
                return ""
            if self._trickle.begun:
                oldest.fault = "garbled"
                self.counters.garbled += 1
                if not self._rtu:
                    return "garbled"
                self._trickle.ended()
            del self._flights[oldest_id]
            if trouble := self._expired(oldest, oldest_id, now):
                return trouble
        return ""

    @property
    def trickles(self) -> bool:
        """Whether a frame has begun and not ended."""
        return self._trickle.begun

    @property
    def waits(self) -> bool:
        """Whether anything is in flight, or a command waits for a connection."""
        return bool(self._flights or (self._commands.queue and self._write is None))

    @property
    def at_rest(self) -> bool:
        """Whether nothing is in flight and `pump` has nothing to do."""
        commands = self._commands
        return not (self._turns.queue or self._flights or commands.queue or self._silent.polls or commands.glances)

    def due(self) -> float:
        """When `sweep` must be called next, at the latest (loop seconds); infinite while nothing `waits`."""
        flights = self._flights
        if flights:
            return self._due_of(flights[next(iter(flights))])
        return self._commands.expires() if self._write is None else inf

    @property
    def resume_at(self) -> float:
        """When `pump` must be called again, for what waits for silence or for its unit (loop seconds)."""
        return inf if self._quiet is None or self._write is None else self._quiet.resume_at

    def pump(self, now: float) -> None:
        """Send what is next, as far as the line takes it: commands, then polls in turn, then one probe or glance."""
        flights, quiet = self._flights, self._quiet
        if quiet is not None:
            quiet.resume_at = inf
        room = 1 if self._window == 1 else self._room()
        while len(flights) < room and self._write is not None and not (flights and self._alone()):
            exchange = self._next(now)
            if exchange is None:
                return
            if flights and isinstance(exchange, Poll) and exchange.suspect:
                self._turns.queue.appendleft(exchange)
                return
            if quiet is not None and quiet.wait(exchange.unit, now):
                if isinstance(exchange, Command):
                    self._commands.wait_on(exchange)
                else:
                    self._turns.queue.appendleft(exchange)
                return
            self._send(exchange, now)

    # --- the connection comes and goes

    def opened(self, write: Callable[[Ask, int], None], now: float, *, anew: bool) -> None:
        """There is a connection. `anew`: it follows a failure, so everybody gets a turn at once, the silent too."""
        self._write = write
        self.answered = False
        self._false_id = ""
        self._trickle.ended()
        if self._quiet is not None:
            self._quiet.opened()
        if anew:
            self._lost = True
            self._doubt.opened(now, doubted=self._wary)
            self._silent.may_speak(now)
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
        self._wary = reason == "mute"
        if not self._wary:
            self._silent.way_was_gone()
        for behind, exchange in enumerate(flights):
            why = exchange.fault or reason
            if isinstance(exchange, Poll) and reason not in OF_THE_LINE:
                exchange.broke += 1
            if isinstance(exchange, Command):
                self._commands.again(exchange, why)
            elif exchange.trusted:
                exchange.attempt, exchange.idle = 1 if self._wary and behind else 2, True
            else:
                self._outcomes.fail(exchange, why, now)
        if self._wary and not self.answered:
            self._asked_in_vain(now)

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

    def heard(self, now: float) -> None:
        """Bytes came in, of whatever kind: the line is not silent."""
        if self._quiet is not None:
            self._quiet.heard(now)

    def noise(self, count: int) -> str:
        """So many bytes were no frame. Returns why the connection must be closed, or nothing."""
        self.counters.noise += count
        self._noise += count
        return self._strays.rubbish(count)

    def receiving(self, now: float, *, partial: bool) -> None:
        """Bytes came and were looked at; `partial` says that a frame has begun and not ended."""
        if partial:
            self._trickle.more(now)
        elif self._trickle.begun:
            self._trickle.ended()

    # --- frames and commands come in

    def answer(self, head: Head, buffer: bytearray, start: int, now: float) -> str:
        """Take one whole frame. Returns why the connection must be closed, or nothing."""
        if self._trickle.begun:
            self._trickle.ended()
        key = head[0] if self._strict_ids else next(iter(self._flights), -1)
        exchange = self._flights.get(key)
        if exchange is None:
            return self._unasked(key, head, buffer, start, now)
        verdict = match(exchange.ask, head, buffer, start)
        if verdict is Match.ANSWER or verdict is Match.EXCEPTION:
            oldest = self._window == 1 or key == next(iter(self._flights))
            del self._flights[key]
            self.answered = True
            self._false_id = ""
            if self._lost:
                self._lost = False
                self._silent.line_is_back(now)
            if self._doubt.until != NEVER:
                self._line_lives(now, exchange.sent)
            elif self._silent.probed is not None:
                self._silent.line_goes_on(now)
            if oldest:
                self._doubt.head_clock = now
            if verdict is Match.EXCEPTION:
                self.counters.exceptions += 1
                self._refused(exchange, head[5], now)
            elif isinstance(exchange, Poll):
                self.counters.answers += 1
                self._outcomes.answered(exchange, buffer, start + 9, now)
            else:
                self._vain = 0
                self._commands.answered(exchange, buffer, start + 9)
            return ""
        return "" if self._late_of_held(head, buffer, start, now) else self._useless(exchange, verdict, now)

    def _useless(self, exchange: Exchange, verdict: Match, now: float) -> str:
        """An answer of no use came. Returns why the connection must be closed, or nothing."""
        if self._strict_ids and self._doubt.until != NEVER and verdict is not Match.OUT_OF_STEP:
            self._line_lives(now, exchange.sent)  # it is to this very question: the line is not mute
        if verdict is Match.FOREIGN:
            return self._strays.foreign()
        self.counters.garbled += 1
        exchange.fault = "garbled"
        return "garbled" if verdict is Match.OUT_OF_STEP else ""

    def command(self, unit: int, point: Readable, on: bool | None, done: Done, now: float) -> None:
        """Queue a command to an output in front of all polls; `on` None only reads it."""
        self._commands.add(Command(unit, point, on, done, now))
        self.pump(now)

    def glance(self, unit: int, point: Readable, done: Done, now: float, *, first: bool = False) -> None:
        """Queue a question behind everything else: asked once, in an idle gap, of a unit that nobody's safety needs.

        `first`: ahead of everything else, for a unit that lately answered: its silence costs one wait, and no more.
        """
        if self._write is None:
            done(None, self.reason or "no-contact")
            return
        self._commands.add(Command(unit, point, None, done, now, glance=True), first=first)
        self.pump(now)

    # --- details: turns

    def _alone(self) -> bool:
        """Tell whether what is in flight is a suspect: nobody else is to lose a turn by it."""
        return any(isinstance(exchange, Poll) and exchange.suspect for exchange in self._flights.values())

    def _room(self) -> int:
        """Return how many may be in flight: where a gateway may still be stuck, one, until it shows life."""
        return 1 if self._wary and not self.answered else self._window

    def _next(self, now: float) -> Exchange | None:
        """Take the next that may be asked now: none of a unit whose late answer is still waited for."""
        quiet = self._quiet
        if quiet is None and self._turns.queue and not self._commands.queue and self._doubt.until == NEVER:
            return self._turns.queue.popleft()  # nearly always
        held = None if quiet is None else lambda exchange: quiet.holds(exchange, now)
        if self._commands.queue:
            command = self._commands.take(self._but_glances(held))
            if command is not None:
                return command
        if self._doubt.until != NEVER and self._turns.polls:  # without heads there is nobody to witness
            witness = None if self._silent.rests else self._witness(held)
            return witness or self._stranger(now)
        poll = self._turns.take(held)
        if poll is not None or self._flights:
            return poll
        return self._silent.due(now, self._slot_end, held) or self._glance(now)

    def _but_glances(self, held: Callable[[Command], bool] | None) -> Callable[[Command], bool] | None:
        """While in doubt a glance is held back too, as long as a head may answer: its silence would tell nothing."""
        if self._doubt.until == NEVER or not any(poll.trusted for poll in self._turns.polls):
            return held
        return lambda command: command.glance or (held is not None and held(command))

    def _glance(self, now: float) -> Exchange | None:
        glances = self._commands.glances
        return glances.popleft() if glances and now + self._timeout_s <= self._slot_end else None

    def _stranger(self, now: float) -> Exchange | None:
        """Where no head is left that could tell a dead line from a dead head, whoever else hangs there may."""
        if self._flights or any(poll.trusted for poll in self._turns.polls):
            return None
        return self._glance(now)

    def _asked_in_vain(self, now: float) -> None:
        """Nobody answered on a whole connection: each who was asked there has had its turn, witness or not.

        Else a line that died as a whole would be judged for good by the one witness that stays dead.
        """
        for poll in self._turns.polls:
            if not poll.failures and poll.sent >= self._doubt.opened_at:
                self._outcomes.fail(poll, self.reason, now)

    # --- details: time

    def _due_of(self, oldest: Exchange) -> float:
        polls = self._turns.polls
        due = self._doubt.due_of(oldest) if polls or not self._alone_glance(oldest) else oldest.sent + self._timeout_s
        return max(due, self._trickle.due()) if self._trickle.begun else due

    def _expired(self, exchange: Exchange, key: int, now: float) -> str:
        self.counters.timeouts += 1
        if isinstance(exchange, Command) and self._alone_glance(exchange):
            return self._glanced_in_vain(exchange)
        self._doubt.expired(exchange, now)
        if self._strict_ids:
            self._strays.remember(key, exchange)
        if self._quiet is not None:
            self._quiet.expired(exchange, now, in_pieces=self._noise >= exchange.ask.length + 2)
        if self._noise >= SMALLEST:
            exchange.fault = exchange.fault or "garbled"
        why = exchange.fault or "timeout"
        if isinstance(exchange, Command):
            self._commands.again(exchange, why)
        elif exchange.trusted and (self._strict_ids or self._rtu):
            self.counters.retries += 1
            self._turns.again(exchange, blamed=not exchange.cascade)
        else:
            self._outcomes.fail(exchange, why, now)
        if self._doubt.proven(now, answered=self.answered):
            return self._false_id or "mute"
        # Without ids a late answer could pass for the next one: only a new connection is sure not to bring it.
        return "" if self._strict_ids or self._rtu else "late-guard"

    def _alone_glance(self, exchange: Exchange) -> bool:
        """Tell whether it is a glance on a line without heads: its silence says nothing of the outputs there."""
        return isinstance(exchange, Command) and exchange.glance and not self._turns.polls

    def _glanced_in_vain(self, glance: Command) -> str:
        """Fail it, and nothing else waits for its sake; after some the connection is opened anew, should it be dead."""
        self._vain += 1
        self._commands.failed(glance, glance.fault or "timeout")
        if self._vain >= VAIN_GLANCES:
            self._vain = 0
            return "mute"
        return "" if self._strict_ids or self._rtu else "late-guard"

    def _line_lives(self, now: float, answered_sent: float) -> None:
        """Something answered after a doubt: let the stuck ones go on, and count what it cost."""
        self._doubt.until = NEVER
        if now - answered_sent > self._timeout_s:
            self.counters.stalls += 1
            for poll in self._turns.after_stall(one_at_a_time=self._window == 1):
                self._outcomes.fail(poll, "timeout", now)
            self._silent.delays(answered_sent)
        self._silent.line_goes_on(now)

    def _witness(self, held: Held | None) -> Poll | None:
        """While in doubt only one who answered lately is asked: its answer, or its silence, says most of the line."""
        alone = not self._flights
        witness = self._turns.witness(held, self._doubt.since, alone=alone)
        if witness is None and alone and self._silent.polls and not any(self._turns.idle_witnesses()):
            return self._silent.probe(held)  # nobody is left to ask: does anyone answer on this connection?
        return witness

    def _send(self, exchange: Exchange, now: float) -> None:
        if self._silent.dead and isinstance(exchange, Poll):
            self._silent.asked()
        self._id = key = next_transaction(self._id)
        exchange.sent = now
        if not self._flights:
            self._doubt.head_clock = now
        self._flights[key] = exchange
        if self._strays.late:
            self._strays.reused(key)
        self.counters.polls += 1
        self._noise = 0
        if self._quiet is not None:
            self._quiet.sent(exchange.unit, now)
        if self._write is not None:
            self._write(exchange.ask, key)

    # --- details: answers

    def _refused(self, exchange: Exchange, code: int, now: float) -> None:
        if isinstance(exchange, Command):
            self._commands.failed(exchange, f"exception-{code}")
        elif self._outcomes.refused(exchange, code, now):
            self._strays.forget(exchange)

    def _unasked(self, key: int, head: Head, buffer: bytearray, start: int, now: float) -> str:
        if self._late_of_held(head, buffer, start, now):
            return ""
        late = self._strays.recognise(key)
        if late is None:
            self._false_id = self._strays.suspect(self._flights, key, head, buffer, start) or self._false_id
            return self._strays.foreign()
        # Its value is not used, but it proves that the line lives, and that a unit which only waited its turn does too.
        self.answered = True
        self._doubt.head_clock = now
        if self._doubt.until != NEVER:
            oldest = late if late.cascade else next(iter(self._flights.values()), late)
            self._line_lives(now, oldest.sent)
        if late.cascade and isinstance(late, Poll):
            self._outcomes.alive(late, now)
            if late.idle:
                self._turns.begin(late)
        return ""

    def _late_of_held(self, head: Head, buffer: bytearray, start: int, now: float) -> bool:
        """Tell whether this is the late answer that a unit is held for. It is not used, but the line lives."""
        late = None if self._quiet is None else self._quiet.recognise(head, buffer, start)
        if late is None:
            return False
        self.counters.late += 1
        self.answered = True
        if self._doubt.until != NEVER:
            self._line_lives(now, now)
        return True
