"""Reads a changed depot.toml for a running watch: the whole file, checked and computed, before anything is touched."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from gateway.configuration.apart import load_apart
from gateway.configuration.problems import ConfigError
from gateway.depot import Depot
from gateway.field.wiring import worst_cases
from sensors.readings import DetectorId


@dataclass(frozen=True, slots=True)
class NewOrders:
    """A configuration that may be followed, with what takes long to compute already computed."""

    depot: Depot
    worst_cases: dict[DetectorId, tuple[float, bool]]


@dataclass(frozen=True, slots=True)
class NotFollowed:
    """Why the old configuration stays: a reason code for the alarm, and the whole of it for the log."""

    reason: str
    detail: str


class Reloads:
    """Reads anew whenever that is asked for, one time after the other.

    Who asks while the file is being read may have changed it since: it is read once more.
    """

    def __init__(self) -> None:
        self._asked = self._working = False

    def ask(self) -> bool:
        """Ask for it; return whether `work` is to begin."""
        idle, self._asked, self._working = not self._working, True, True
        return idle

    async def work(self, reload: Callable[[], Awaitable[None]]) -> None:
        """Reload until nobody has asked since it began."""
        try:
            while self._asked:
                self._asked = False
                await reload()
        finally:
            self._working = False


def read_anew(old: Depot, environ: Mapping[str, str]) -> NewOrders | NotFollowed:
    """Read the old depot's file again. Blocks for as long as a big file takes: call it off the alarm loop."""
    try:
        depot = load_apart(old.file, environ).depot
    except ConfigError as error:
        return NotFollowed("refused", str(error))
    if (depot.id, depot.data) != (old.id, old.data):
        return NotFollowed("needs-restart", "id, data")
    return NewOrders(depot, worst_cases(depot))
