"""What becomes of a turn: readings from its answer, or one reading each that says why there is none. Sends nothing."""

from collections.abc import Callable, Sequence
from typing import Final

from sensors.drivers.exchanges import Counters, Poll
from sensors.drivers.silent import Silent
from sensors.drivers.turns import Turns
from sensors.readings import Scan, Status
from sensors.stamps import Clock
from sensors.wire.registers import Block

QUICK_REFUSAL_S: Final = 0.05
"""A gateway that takes longer than this to say "no answer from the device" (exceptions 10 and 11) blocks the line."""

GATEWAY_CODES: Final = frozenset({10, 11})


class Outcomes:
    """Ends the turns of one line and tells their readings."""

    __slots__ = (
        "_clock",
        "_counters",
        "_silent",
        "_source",
        "_turns",
        "on_scan",
    )

    def __init__(
        self,
        source: str,
        turns: Turns,
        silent: Silent,
        clock: Clock,
        on_scan: Callable[[Scan], None],
        counters: Counters,
    ) -> None:
        self.on_scan = on_scan
        self._source = source
        self._turns = turns
        self._silent = silent
        self._clock = clock
        self._counters = counters

    def answered(self, poll: Poll, buffer: bytearray, base: int, now: float) -> None:
        """Its registers came, from byte `base` on."""
        if len(poll.block.asks) > 1:
            if poll.collect(buffer, base):
                self._turns.queue.appendleft(poll)
                return
            buffer, base = poll.words, 0
        stamp = self._clock.now()
        readings = poll.block.readings(buffer, base, stamp)
        poll.idle, poll.attempt, poll.fault = True, 1, ""
        if poll.failures or poll.broke or poll.silent:
            self.alive(poll, now)
        else:
            poll.heard = now
        if poll.owed:
            # It was still waiting when its next slot began: that turn follows at once, so that its mean period is kept.
            poll.owed = False
            self._turns.begin(poll)
        self.on_scan(Scan(self._source, readings, stamp))

    def alive(self, poll: Poll, now: float) -> None:
        """It spoke."""
        poll.heard = now
        poll.failures = poll.broke = 0
        self._silent.spoke(poll, now)

    def refused(self, poll: Poll, code: int, now: float) -> bool:
        """An exception answer: the unit lives (unless its gateway speaks for it) but gives no value.

        True if the poll is no more, since its heads are asked one by one from now on.
        """
        apart = poll.block.split()
        if len(apart) > 1 or apart[0] is not poll.block:
            self._split(poll, apart, now)
            return True
        reason = f"exception-{code}"
        poll.rewind()
        self.publish(poll, Status.FAULT, reason)
        poll.end()
        if code in GATEWAY_CODES and now - poll.sent > QUICK_REFUSAL_S:
            self._silent.count_failure(poll, Status.FAULT, reason, now)
        else:
            self.alive(poll, now)
        return False

    def _split(self, poll: Poll, apart: Sequence[Block], now: float) -> None:
        """The unit refuses a merged read: ask head by head from now on, so that one bad address spoils no other."""
        self._counters.splits += 1
        self._silent.spoke(poll, now)
        self._turns.replace(poll, apart)

    def fail(self, poll: Poll, reason: str, now: float) -> None:
        """No answer in this turn, nor in its retry."""
        was_silent = poll.silent
        poll.rewind()
        poll.end()
        if not was_silent:
            self.publish(poll, Status.NO_CONTACT, reason)
        self._silent.count_failure(poll, Status.NO_CONTACT, reason, now)

    def publish(self, poll: Poll, status: Status, reason: str) -> None:
        """Tell one reading for each of its heads that says that there is no value."""
        stamp = self._clock.now()
        self.on_scan(Scan(self._source, poll.without_value(status, reason, stamp), stamp))
