"""What the engine is told to watch and whom to tell: the depot without its wires, files and addresses."""

from dataclasses import dataclass

from alerts.policy import Levels, Timing
from alerts.routing import EscalationStep, Recipient
from sensors.readings import DetectorId


@dataclass(frozen=True, slots=True)
class Watch:
    """One detector to be watched.

    Attributes:
        source: the bus or broker it is heard over; one cut cable silences all that share it.
        blind_after: longest age (ns) of its last good reading before it counts as not watching.
    """

    detector: DetectorId
    area: str
    source: str
    blind_after: int


@dataclass(frozen=True, slots=True)
class Orders:
    """Standing orders.

    Attributes:
        outputs: id -> kind (``siren`` or ``relay``).
        counting: channels whose acceptance counts as the first output of an alarm.
    """

    depot: str
    levels: Levels
    timing: Timing
    watches: tuple[Watch, ...]
    outputs: dict[str, str]
    recipients: tuple[Recipient, ...]
    escalation: tuple[EscalationStep, ...]
    counting: frozenset[str]
