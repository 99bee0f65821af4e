"""The promises of the stock: every container that passed a gate is booked once, or stands in doubt. Pure."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

from gateway.office.counting import MARKS
from gateway.office.desk import Desk
from gateway.office.doubts import open_doubts
from simulator.promises import NEVER

FIRST_COUNT: Final = 100
"""What a counter shows when nothing has passed yet."""

BOOKED_S: Final = 100.0
"""By then a count is booked, though the message that told it first was lost: it is repeated every minute."""

Expect = Callable[[float, str, str, bool], None]


class Stock:
    """What really passed, against the books. `acts`: of each gate, what its containers do."""

    def __init__(self, acts: Mapping[str, str], area: str, expect: Expect) -> None:
        self._acts = acts
        self._area = area
        self._expect = expect
        self._counts = dict.fromkeys(acts, FIRST_COUNT)
        self._restless = NEVER
        self._ill: set[str] = set()

    def counted(self, now: float, gate: str, count: int) -> None:
        """A counter shows this."""
        if self._counts[gate] != count:
            self._counts[gate] = count
            self._restless = now

    def stirred(self, now: float) -> None:
        """The gateway began, or follows new orders."""
        self._restless = now

    def way(self, now: float, name: str, *, well: bool) -> None:
        """The broker or the disk falls ill or is well again."""
        if well:
            self._ill.discard(name)
        else:
            self._ill.add(name)
        self._restless = now

    @property
    def ill(self) -> bool:
        """Whether nothing can be asked of the books now."""
        return bool(self._ill)

    def look(self, now: float, desk: Desk) -> None:
        """Nothing is ever booked that did not pass; and all that did, once everything was well for a while."""
        booked = desk.stock().count(self._area, Decimal(13))
        came = sum(count - FIRST_COUNT for gate, count in self._counts.items() if self._acts[gate] == "in")
        self._expect(now, "count-once", f"{booked} containers are booked, and {came} came", booked <= came)
        if self._ill or now - self._restless < BOOKED_S:
            return
        for gate, count in self._counts.items():
            told = desk.last_told(MARKS, gate)
            read = None if told is None else told.values.get("value")
            self._expect(now, "count-kept", f"{gate} shows {count}, read {read}", read == count)
        if "out" not in self._acts.values():
            self._expect(now, "count-kept", f"{booked} containers are booked, and {came} came", booked == came)
            return
        doubted = {doubt.source for doubt in open_doubts(desk.entries, {})}
        for gate, count in self._counts.items():
            if self._acts[gate] == "out" and count > FIRST_COUNT:
                said = f"{gate}: {count - FIRST_COUNT} went that never came, and nobody is told to count"
                self._expect(now, "refusal-kept", said, gate in doubted)
