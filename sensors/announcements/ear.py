"""Every message of a broker -> the heads that announced themselves, each once. Bounded in all it remembers."""

from collections.abc import Iterable, Iterator
from typing import Final

from sensors.announcements import home_assistant, shelly, sparkplug, tasmota, zigbee
from sensors.announcements.found import Announced, Models
from sensors.wire.documents import GarbledPayloadError, decode

MOST_HEADS: Final = 2000
MOST_WAITING: Final = 500
"""Tasmota devices of which only one of two messages was heard."""

PREFERRED: Final = ("shelly", "zigbee2mqtt", "tasmota", "home-assistant", "sparkplug")
"""Whose word counts where two announce the same topic: the device's or bridge's own before the integration's."""


def topics(discovery_prefix: str = "homeassistant") -> tuple[str, ...]:
    """Return what to subscribe to."""
    return (
        "+/bridge/devices",
        f"{discovery_prefix}/+/+/config",
        f"{discovery_prefix}/+/+/+/config",
        "tasmota/discovery/+/config",
        "tasmota/discovery/+/sensors",
        "shellies/announce",
        "shellies/+/announce",
        "spBv1.0/+/NBIRTH/+",
        "spBv1.0/+/DBIRTH/+/+",
    )


class Ear:
    """Hears messages and knows the heads they speak of. `dropped`: heads or devices beyond the bounds."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._heads: dict[tuple[str, str], Announced] = {}
        self._tasmota: dict[str, dict[str, object]] = {}
        self.dropped = 0

    def hear(self, topic: str, payload: bytes) -> None:
        """Take one message; one that announces nothing is passed over."""
        if not payload:  # a retained announcement that was taken back
            return
        for head in self._heads_of(topic, payload):
            key = head.topic, str(head.keys.get("value", head.keys.get("metric", "")))
            same = [known for known in self._heads if known == key or known[0] == head.topic != ""]
            if any(PREFERRED.index(self._heads[known].by) < PREFERRED.index(head.by) for known in same):
                continue
            for known in same:
                if self._heads[known].by != head.by:
                    del self._heads[known]
            if len(self._heads) >= MOST_HEADS and key not in self._heads:
                self.dropped += 1
                continue
            self._heads[key] = head

    def heads(self) -> tuple[Announced, ...]:
        """Return the heads heard so far, by topic."""
        return tuple(self._heads[key] for key in sorted(self._heads))

    def _heads_of(self, topic: str, payload: bytes) -> Iterable[Announced]:
        steps = topic.split("/")
        if steps[0] == "spBv1.0":
            return sparkplug.heads(topic, payload)
        document = _document(payload)
        if steps[-2:] == ["bridge", "devices"]:
            return zigbee.heads("/".join(steps[:-2]), document, self._models)
        if steps[:2] == ["tasmota", "discovery"] and len(steps) == 4:
            return self._of_tasmota(steps[2], steps[3], document)
        if steps[0] == "shellies":
            return shelly.heads(document, self._models.ids)
        if steps[-1] == "config" and len(steps) in (4, 5):
            return home_assistant.heads(steps[1], document)
        return ()

    def _of_tasmota(self, device: str, part: str, document: object) -> Iterator[Announced]:
        if device not in self._tasmota and len(self._tasmota) >= MOST_WAITING:
            self.dropped += 1
            return
        parts = self._tasmota.setdefault(device, {})
        parts[part] = document
        yield from tasmota.heads(parts.get("config"), parts.get("sensors"), self._models.ids)


def _document(payload: bytes) -> object:
    try:
        return decode(payload)
    except GarbledPayloadError:
        return None
