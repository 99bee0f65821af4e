"""What the engine is told to watch and whom to tell: the depot without its wires, files and addresses."""

from collections.abc import Mapping
from dataclasses import dataclass

from alerts.alarms import AlarmKey
from alerts.effects import Row
from alerts.frequency import Frequencies
from alerts.policy import Levels, Timing
from alerts.routing import EscalationStep, Recipient
from gateway.engine.plans import Plan
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


USUAL = Frequencies()


@dataclass(frozen=True, slots=True)
class ByDesign:
    """A configured rule: these alarms tell nobody anything while it holds. Never over GAS.

    Attributes:
        during: it holds only while this alarm's condition does; None: always.
        by, why, until: who answers for it, its reason, and when it ends (civil ns).
    """

    alarms: frozenset[AlarmKey]
    during: AlarmKey | None
    by: str
    why: str
    until: int


@dataclass(frozen=True, slots=True)
class Orders:
    """Standing orders.

    Attributes:
        outputs: id -> its row of the table of effects.
        counting: channels whose acceptance counts as the first output of an alarm.
        by_design: rules that keep alarms quiet.
        frequencies: from when on alarms come too often.
        tests: when outputs are tested by themselves; None: only when somebody asks.
        lasting: SYSTEM subjects whose parts say at their first sure word whether they still hold (mains, batteries).
        stateful: channels that show where an alarm stands: they get every event, also what people need not hear.
    """

    depot: str
    levels: Levels
    timing: Timing
    watches: tuple[Watch, ...]
    outputs: Mapping[str, Row]
    recipients: tuple[Recipient, ...]
    escalation: tuple[EscalationStep, ...]
    counting: frozenset[str]
    by_design: tuple[ByDesign, ...] = ()
    stateful: frozenset[str] = frozenset()
    frequencies: Frequencies = USUAL
    tests: Plan | None = None
    lasting: frozenset[str] = frozenset()
