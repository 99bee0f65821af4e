"""What arrives otherwise than asked: too late, from somebody else, or drop by drop."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from sensors.drivers.commands import Command
from sensors.drivers.exchanges import NEVER, Counters, Poll
from sensors.wire.modbus import Head, Match, match

MAX_LATE: Final = 64
"""Requests out of time whose late answers are still recognised."""

MAX_NOISE: Final = 1000
"""Frames nobody asked for in one slot; beyond it the connection is given up."""

MAX_RUBBISH: Final = 8192
"""Bytes without a frame in one slot, on RTU; beyond it the connection is given up."""

TRICKLE_S: Final = 2.0
"""An answer that has begun may take so long in all, as long as its bytes keep coming."""

Exchange: TypeAlias = Poll | Command

FALSE_ID: Final = "id-false"
"""The right answer came, but for its transaction id; with a pattern, one of the next two."""
ID_ZERO: Final = "id-zero"
ID_SWAPPED: Final = "id-swapped"


class Strays:
    """Requests that ran out of time, by transaction id, and how much noise there is.

    Attributes:
        late: the requests.
        noisy: whether there was any noise in this slot.
    """

    __slots__ = (
        "_counters",
        "_noise",
        "_rubbish",
        "late",
        "noisy",
    )

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self.late: dict[int, Exchange] = {}
        self.noisy = False
        self._noise = 0
        self._rubbish = 0

    def remember(self, key: int, exchange: Exchange) -> None:
        """Its answer, should it still come, is a late one."""
        self.late[key] = exchange
        if len(self.late) > MAX_LATE:
            del self.late[next(iter(self.late))]

    def recognise(self, key: int) -> Exchange | None:
        """Return the request that this frame answers too late; None for a frame of somebody else."""
        late = self.late.pop(key, None)
        if late is not None:
            self._counters.late += 1
        return late

    def suspect(self, flights: Mapping[int, Exchange], key: int, head: Head, buffer: bytearray, start: int) -> str:
        """Find out if a frame would be the answer to what is in flight, were it not for its transaction id.

        Returns the reason, which the request keeps in case no right answer comes; nothing if it would not.
        """
        for asked, exchange in flights.items():
            if match(exchange.ask, head, buffer, start) in (Match.ANSWER, Match.EXCEPTION):
                self._counters.false_ids += 1
                swapped = asked >> 8 | (asked & 0xFF) << 8
                exchange.fault = ID_ZERO if key == 0 else ID_SWAPPED if key == swapped else FALSE_ID
                return exchange.fault
        return ""

    def reused(self, key: int) -> None:
        """The transaction id belongs to a new request."""
        self.late.pop(key, None)

    def forget(self, poll: Poll) -> None:
        """This poll is no more."""
        self.late = {key: late for key, late in self.late.items() if late is not poll}

    def clear(self) -> None:
        """The connection is gone."""
        self.late.clear()

    def foreign(self) -> str:
        """Count a frame of somebody else; says "flood" when it is too much."""
        self._counters.foreign += 1
        self.noisy = True
        self._noise += 1
        return "flood" if self._noise > MAX_NOISE else ""

    def rubbish(self, count: int) -> str:
        """So many bytes were no frame; says "flood" when it is too much."""
        self.noisy = True
        self._rubbish += count
        return "flood" if self._rubbish > MAX_RUBBISH else ""

    def new_slot(self) -> None:
        """The noise is counted anew."""
        self.noisy = False
        self._noise = self._rubbish = 0


class Trickle:
    """A frame that has begun and not ended (loop seconds).

    Attributes:
        begun: whether there is one.
    """

    __slots__ = (
        "_last_byte",
        "_since",
        "_timeout_s",
        "begun",
    )

    def __init__(self, timeout_s: float) -> None:
        self.begun = False
        self._timeout_s = timeout_s
        self._since = NEVER
        self._last_byte = NEVER

    def more(self, now: float) -> None:
        """Some bytes of it came."""
        if not self.begun:
            self.begun, self._since = True, now
        self._last_byte = now

    def ended(self) -> None:
        """It is whole, or its connection is gone."""
        self.begun = False

    def due(self) -> float:
        """How long it may still be waited for."""
        return min(self._last_byte + self._timeout_s, self._since + TRICKLE_S)
