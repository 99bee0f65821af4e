"""Every fault the swarm knows: where it strikes and what it does to whoever asks there. A table."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from simulator.promises import Sight


class Place(Enum):
    """What a fault befalls."""

    UNIT = "unit"  # one head's unit on a line
    TOPIC = "topic"  # one head that speaks MQTT
    LINE = "line"
    BROKER = "broker"
    COIL = "coil"
    PHONE = "phone"
    SUPPLY = "supply"
    DISK = "disk"


@dataclass(frozen=True, slots=True)
class Mishap:
    """One fault.

    Attributes:
        sight: what is left of the sight of those it befalls. PLAIN: it is harmless, and the watch has to take it so.
        changes: attributes of the scripted unit, line, phone or disk while it lasts.
        lasts: seconds; 0 for as long as the seed says.
    """

    place: Place
    sight: Sight
    changes: Mapping[str, object]
    lasts: float = 0.0


MISHAPS: Final[Mapping[str, Mishap]] = {
    "lost-poll": Mishap(Place.UNIT, Sight.PLAIN, {"silent": True}, lasts=0.15),
    "mute-unit": Mishap(Place.UNIT, Sight.SILENT, {"silent": True}),
    "a-little-slow": Mishap(Place.UNIT, Sight.PLAIN, {"delay_s": 0.06}),
    "too-slow": Mishap(Place.UNIT, Sight.DOUBTFUL, {"delay_s": 0.65}),
    "far-too-slow": Mishap(Place.UNIT, Sight.SILENT, {"delay_s": 4.0}),
    "exception": Mishap(Place.UNIT, Sight.SILENT, {"exception": 4}),
    "busy": Mishap(Place.UNIT, Sight.SILENT, {"exception": 6}),
    "garbage": Mishap(Place.UNIT, Sight.SILENT, {"garbage": b"\xff\x00garbage\x00\xff"}),
    "wrong-unit": Mishap(Place.UNIT, Sight.SILENT, {"wrong_unit": 77}),
    "wrong-id": Mishap(Place.UNIT, Sight.SILENT, {"id_fault": "wrong"}),
    "zero-id": Mishap(Place.UNIT, Sight.SILENT, {"id_fault": "zero"}),
    "too-many-words": Mishap(Place.UNIT, Sight.SILENT, {"count_fault": "more"}),
    "no-words": Mishap(Place.UNIT, Sight.SILENT, {"count_fault": "zero"}),
    "lying-length": Mishap(Place.UNIT, Sight.SILENT, {"length_error": 3}),
    "twice": Mishap(Place.UNIT, Sight.PLAIN, {"repeat": 2}),
    "in-pieces": Mishap(Place.UNIT, Sight.PLAIN, {"cut_s": 0.003}),
    "says-fault": Mishap(Place.UNIT, Sight.BAD, {"word": "fault"}),
    "says-warm-up": Mishap(Place.UNIT, Sight.BAD, {"word": "warm_up"}),
    "says-inhibited": Mishap(Place.UNIT, Sight.BAD, {"word": "inhibited"}),
    "not-a-number": Mishap(Place.UNIT, Sight.BAD, {"word": "nan"}),
    "refuses": Mishap(Place.LINE, Sight.SILENT, {"refuses": True}),
    "mute-line": Mishap(Place.LINE, Sight.SILENT, {"mute": True}),
    "frozen-line": Mishap(Place.LINE, Sight.SILENT, {"frozen": True}),
    "unplugged-line": Mishap(Place.LINE, Sight.SILENT, {"unplugged": True}),
    "resets": Mishap(Place.LINE, Sight.PLAIN, {"resets": True}, lasts=0.01),
    "quiet-topic": Mishap(Place.TOPIC, Sight.SILENT, {"quiet": True}),
    "garbled-topic": Mishap(Place.TOPIC, Sight.SILENT, {"garbled": True}),
    "told-twice": Mishap(Place.TOPIC, Sight.PLAIN, {"twice": True}),
    "told-late": Mishap(Place.TOPIC, Sight.DOUBTFUL, {"late_s": 0.8}),
    "out-of-order": Mishap(Place.TOPIC, Sight.DOUBTFUL, {"swapped": True}),
    "kept-message": Mishap(Place.TOPIC, Sight.PLAIN, {"kept": True}),
    "broker-gone": Mishap(Place.BROKER, Sight.SILENT, {"gone": True}),
    "broker-mute": Mishap(Place.BROKER, Sight.SILENT, {"mute": True}),
    "stuck-coil": Mishap(Place.COIL, Sight.SILENT, {"stuck": True}),
    "refused-writes": Mishap(Place.COIL, Sight.SILENT, {"refuses_writes": 4}),
    "crossed-coils": Mishap(Place.COIL, Sight.SILENT, {"crossed": True}),
    "dropping-coil": Mishap(Place.COIL, Sight.SILENT, {"let_go_s": 1.0}),
    "refusing-board": Mishap(Place.COIL, Sight.SILENT, {"exception": 4}),
    "mute-board": Mishap(Place.COIL, Sight.SILENT, {"silent": True, "hinders": True}),
    "late-board": Mishap(Place.COIL, Sight.SILENT, {"delay_s": 0.5, "hinders": True}),
    "board-of-another-name": Mishap(Place.COIL, Sight.SILENT, {"wrong_unit": 98, "hinders": True}),
    "switched-off": Mishap(Place.COIL, Sight.PLAIN, {"switched_off": True}, lasts=0.01),
    "hung-phone": Mishap(Place.PHONE, Sight.SILENT, {"mood": "hung"}),
    "failing-phone": Mishap(Place.PHONE, Sight.SILENT, {"mood": "failing"}),
    "refusing-phone": Mishap(Place.PHONE, Sight.SILENT, {"mood": "refusing"}),
    "mute-phone": Mishap(Place.PHONE, Sight.SILENT, {"mood": "takes-and-hangs"}),
    "mains-lost": Mishap(Place.SUPPLY, Sight.PLAIN, {"lost": True}),
    "mains-flicker": Mishap(Place.SUPPLY, Sight.PLAIN, {"flickers_s": 3.0}),
    "battery-low": Mishap(Place.SUPPLY, Sight.PLAIN, {"low": True}),
    "mute-supply": Mishap(Place.SUPPLY, Sight.SILENT, {"silent": True}),
    "slow-disk": Mishap(Place.DISK, Sight.PLAIN, {"sync_s": 2.0}),
    "slower-disk": Mishap(Place.DISK, Sight.PLAIN, {"sync_s": 15.0}),
    "full-disk": Mishap(Place.DISK, Sight.PLAIN, {"free_bytes": 4096}),
    "failing-disk": Mishap(Place.DISK, Sight.PLAIN, {"failing": True}),
}
