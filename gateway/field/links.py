"""Which lines and brokers are up, and since when: what the screens are told of them."""

from dashboards.ports import LinkView
from sensors.readings import LinkChange
from sensors.stamps import SECOND, Stamp


class Links:
    """The last change of every source.

    Attributes:
        heard: how many changes there were.
    """

    def __init__(self) -> None:
        self._changes: dict[str, LinkChange] = {}
        self.heard = 0

    def hear(self, change: LinkChange) -> None:
        """A line came up or went down."""
        self._changes[change.source] = change
        self.heard += 1

    def views(self, now: Stamp) -> tuple[LinkView, ...]:
        """Every source heard of so far."""
        return tuple(
            LinkView(id=name, up=last.up, reason=last.reason, age_s=round((now.mono - last.at.mono) / SECOND, 1))
            for name, last in self._changes.items()
        )
