"""What a depot's broker shows of its alarms (``vigia/<depot>/``): heard as it comes, and held against what stands."""

import json
from collections.abc import Callable, Collection
from typing import Any, Final

from alerts.alarms import AlarmKey, AlarmState, Kind
from alerts.channels.mqtt import ROOT, topic_level
from simulator.memory_broker import MemoryBroker
from simulator.promises import NEVER, Book

SHOWN_S: Final = 15.0
"""What a start or new orders brought is shown by then, where the broker is well."""

OVER: Final = ("normal", None, None)


class Noticeboard:
    """Somebody who reads along at the broker.

    Args:
        channel: the gateway's channel that writes there.
        took: told of each event that comes: its cause, subject, level (empty: none) and id.
    """

    def __init__(
        self, depot: str, channel: str, broker: MemoryBroker, took: Callable[[str, str, str, str], None]
    ) -> None:
        self._channel = channel
        self._itself = AlarmKey(f"channel:{channel}", Kind.SYSTEM)  # no channel carries that it is itself unwell
        self._broker = broker
        self._took = took
        self._base = f"{ROOT}/{topic_level(depot)}"
        self._restless = NEVER
        self._doubted: set[str] = set()
        broker.devices[f"{self._base}/event"] = self._hear

    def restless(self, now: float) -> None:
        """The broker is ill or well again, or the gateway began or follows new orders."""
        self._restless = now

    def doubt(self, keys: Collection[AlarmKey]) -> None:
        """A crash took back what the journal did not hold yet of these alarms, and the broker may have been told."""
        self._doubted |= {self._topic(key) for key in keys}

    def changed(self, keys: Collection[AlarmKey]) -> None:
        """These alarms have just changed, and will be shown as they stand now."""
        self._doubted -= {self._topic(key) for key in keys}

    def look(
        self, now: float, book: Book, owed: Collection[str], expect: Callable[[float, str, str, bool], None]
    ) -> None:
        """Once nothing is owed to the broker it shows every alarm as it stands, and as over what is over."""
        if self._channel in owed or now - self._restless < SHOWN_S:
            return
        shown = {
            topic: _said(json.loads(payload))
            for topic, payload in self._broker.kept()
            if topic.startswith(f"{self._base}/alarm/")
        }
        stands = {self._topic(alarm.key): _standing(alarm) for alarm in book if alarm.key != self._itself}
        for topic in sorted({*shown, *stands} - self._doubted):
            is_, is_shown = stands.get(topic, OVER), shown.get(topic, OVER)
            expect(
                now, "board-agrees", f"{topic.removeprefix(self._base)}: {is_}, shown as {is_shown}", is_ == is_shown
            )

    def _topic(self, key: AlarmKey) -> str:
        return f"{self._base}/alarm/{topic_level(key.subject)}/{key.kind.value}"

    def _hear(self, payload: bytes) -> None:
        said = json.loads(payload)
        self._took(said["event"], said["subject"], said["level"] or "", said["id"])


def _said(state: dict[str, Any]) -> tuple[str, str | None, str | None]:
    found = state["state"], state["level"], state["suppression"]
    return OVER if found[0] == "normal" and found[2] is None else found


def _standing(alarm: AlarmState) -> tuple[str, str | None, str | None]:
    over = alarm.suppression
    return alarm.phase.value, None if alarm.level is None else alarm.level.name, None if over is None else over.value
