"""When a line may be spoken on: the silence between frames, the rest its devices need, the answers that may still come.

RTU frames carry no number. A unit that let a request pass may yet answer it, and then nothing would tell that answer
from the one to its next request: so the unit is held, not asked again, until that time is over, while all others are
asked as ever. It is let go sooner if the late answer comes, or never held if its answer came in pieces.
"""

from collections.abc import Mapping
from math import inf
from typing import Final

from sensors.drivers.commands import Command
from sensors.drivers.exchanges import NEVER, Poll
from sensors.drivers.strays import Exchange
from sensors.wire.modbus import Ask, Head, Match, match

DRAIN_S: Final = 0.02
"""After an answer that did not come, the line must have been silent for so long (a USB adapter's delivery is 16 ms)."""

BABBLE_S: Final = 1.2
"""A line that is never silent for so long, though somebody has a turn, is given up and opened anew."""


class Quiet:
    """The silences of one line. All times are seconds of the loop's clock.

    Attributes:
        resume_at: when something that waits may be sent, as far as asked since it was set to infinity.
    """

    def __init__(self, gap_s: float, rests: Mapping[int, float], rest_s: float, late_s: float | None) -> None:
        """`rests` by unit where it needs more than the line's `rest_s`; `late_s` None where answers carry a number."""
        self.resume_at = inf
        self._gap_s = gap_s
        self._rests = rests
        self._rest_s = rest_s
        self._late_s = late_s
        self._babble_s = BABBLE_S + max([rest_s, *rests.values()])
        self._last = NEVER
        self._last_unit = -1
        self._draining = False
        self._waiting_since = NEVER
        self._held: dict[int, tuple[float, Ask, Exchange]] = {}

    # --- silence on the line

    def heard(self, now: float) -> None:
        """Bytes came in, of whatever kind."""
        self._last = now

    def sent(self, unit: int, now: float) -> None:
        """A request went out."""
        self._last, self._last_unit = now, unit
        self._draining = False
        self._waiting_since = NEVER

    def wait(self, unit: int, now: float) -> bool:
        """Tell whether a request to this unit has to wait for silence, and note when to try again."""
        rest = max(self._rests.get(self._last_unit, self._rest_s), self._rests.get(unit, self._rest_s), self._gap_s)
        ready = self._last + (max(rest, DRAIN_S) if self._draining else rest)
        if ready <= now:
            return False
        if self._waiting_since == NEVER:
            self._waiting_since = now
        self.resume_at = min(self.resume_at, ready)
        return True

    def babbles(self, now: float) -> bool:
        """Tell whether the line has not been silent for too long."""
        return self._waiting_since != NEVER and now - self._waiting_since > self._babble_s

    def opened(self) -> None:
        """There is a new connection; answers to what the old one asked may still come over it."""
        self._waiting_since = NEVER

    # --- answers that may still come

    def expired(self, exchange: Exchange, now: float, *, in_pieces: bool) -> None:
        """A request got no answer. `in_pieces`: enough came, damaged, that nothing more is to be expected."""
        self._draining = True
        if self._late_s is None or in_pieces:
            return
        until = exchange.sent + self._late_s
        if until > now:
            self._held[exchange.unit] = (until, exchange.ask, exchange)

    def holds(self, exchange: Exchange, now: float) -> bool:
        """Tell whether a late answer could be taken for that to this request, and note when no more.

        A command may be tried again at once: both answers would say the same of the same coil.
        """
        held = self._held.get(exchange.unit)
        if held is None:
            return False
        until, ask, _ = held
        if until <= now:
            del self._held[exchange.unit]
            return False
        if isinstance(exchange, Command) and exchange.ask == ask:
            return False
        self.resume_at = min(self.resume_at, until)
        return True

    def recognise(self, head: Head, buffer: bytearray, start: int) -> Exchange | None:
        """Return the request that this frame answers too late; None for any other frame.

        A poll's unit is let go by it. A command's is not: that may have been asked twice.
        """
        held = self._held.get(head[3])
        if held is None or match(held[1], head, buffer, start) not in (Match.ANSWER, Match.EXCEPTION):
            return None
        if isinstance(held[2], Poll):
            del self._held[head[3]]
        return held[2]
