"""What a scenario says must come of it, held against what a watch told. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import Final

EVENTS: Final = ("raised", "risen", "cleared", "acknowledged", "reset", "still", "told", "never")
"""``told``: a recipient was told of it; ``never``: nothing of the kind may be raised. The rest as in messages."""
LEVELS: Final = ("A1", "A2", "A3")


@dataclass(frozen=True, slots=True)
class Told:
    """One thing a watch told, `t_s` into the scenario. `recipient` is empty where it is the fact and no delivery."""

    t_s: float
    subject: str
    kind: str
    event: str
    level: str = ""
    recipient: str = ""


@dataclass(frozen=True, slots=True)
class Expectation:
    """That something is told no sooner than `from_s` and no later than `by_s`.

    Attributes:
        subject: a detector, ``journal``, ``bus:linha-1`` ...; ``*`` for any.
        level: of a gas alarm: at least this; empty for any.
        recipient: whom it is told, for the event ``told``.
    """

    event: str
    subject: str
    kind: str = "GAS"
    level: str = ""
    from_s: float = 0.0
    by_s: float = inf
    recipient: str = ""

    def failed(self, told: Iterable[Told]) -> str | None:
        """Return what is wrong, in a line; None if it came as expected."""
        times = [each.t_s for each in told if self._is(each)]
        if self.event == "never":
            within = [t_s for t_s in times if self.from_s <= t_s <= self.by_s]
            return f"{self}: but it came at {within[0]:.1f} s" if within else None
        early = [t_s for t_s in times if t_s < self.from_s]
        if early and self.event in ("raised", "risen"):
            return f"{self}: but it came at {early[0]:.1f} s already"
        in_time = [t_s for t_s in times if self.from_s <= t_s <= self.by_s]
        if in_time:
            return None
        return f"{self}: but it {f'came at {times[-1]:.1f} s' if times else 'never came'}"

    def __str__(self) -> str:
        who = f" to {self.recipient}" if self.recipient else ""
        return (
            f"{self.kind} {self.level or '-'} of {self.subject} {self.event}{who}, {self.from_s:g} to {self.by_s:g} s"
        )

    def _is(self, each: Told) -> bool:
        if self.subject not in ("*", each.subject) or each.kind != self.kind or each.recipient != self.recipient:
            return False
        if self.level and (not each.level or LEVELS.index(each.level) < LEVELS.index(self.level)):
            return False
        match self.event:
            case "raised" | "never":
                return each.event in ("raised", "risen")
            case "told":
                return each.event in ("raised", "risen", "still")
            case _:
                return each.event == self.event


def failures(expected: Iterable[Expectation], told: Iterable[Told]) -> list[str]:
    """Return what did not come as expected, a line each."""
    kept = list(told)
    return [line for each in expected if (line := each.failed(kept)) is not None]
