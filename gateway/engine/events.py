"""What the engine hears and what it asks for. The shell turns the world into the first and the second into deeds."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from alerts.alarms import AlarmEvent, AlarmKey, Delivery, Kind, Outcome
from sensors.readings import LinkChange, Scan
from sensors.stamps import Stamp, UtcNanos

Json: TypeAlias = "int | str | bool | list[Json] | Mapping[str, Json] | None"
"""What canonical bytes may hold: no floats. %LEL is kept as an integer of thousandths."""


# --- in ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Left:
    """An output whose switch new orders no longer name, and how it was left.

    Attributes:
        place: where its switch is.
        asked: an alarm wanted it on to the last.
        stays: it was left as it is on purpose; else it was told to go off.
        on: what was read back of it after that; None when unknown.
    """

    output: str
    kind: str
    place: str
    asked: bool
    stays: bool
    on: bool | None


class Action(Enum):
    """What a person can ask of an alarm."""

    ACKNOWLEDGE = "acknowledge"
    SILENCE = "silence"
    RESET = "reset"
    SHELVE = "shelve"
    UNSHELVE = "unshelve"


@dataclass(frozen=True, slots=True)
class Command:
    """A person's action on one alarm. `by` is never empty: an action without a name is refused at the door.

    `length`: nanoseconds of a shelf, bounded by `Timing.longest_shelf`.
    """

    action: Action
    key: AlarmKey
    by: str
    note: str
    at: Stamp
    length: int = 0


class WindowKind(Enum):
    """What a person opens over one head. The value is the reason that its BLIND alarm carries."""

    TEST = "test-window"
    INHIBIT = "inhibited-by-person"
    OUT_OF_SERVICE = "out-of-service"


@dataclass(frozen=True, slots=True)
class OpenWindow:
    """A person takes one head out of the watch for a while: it stands as not watching, and everybody is told.

    In a test window gas is expected: it sounds and is told as a drill. The others end by themselves when gas is read.

    Attributes:
        length: nanoseconds; bounded by `Timing.longest_test`, `longest_inhibit` or `longest_out_of_service`.
        note: why; never empty for out of service.
    """

    kind: WindowKind
    detector: str
    length: int
    by: str
    note: str
    at: Stamp


@dataclass(frozen=True, slots=True)
class CloseWindow:
    """The person is done before the time is up."""

    detector: str
    by: str
    at: Stamp


@dataclass(frozen=True, slots=True)
class Committed:
    """The journal holds the records with these tickets."""

    tickets: tuple[int, ...]
    at: Stamp


@dataclass(frozen=True, slots=True)
class Delivered:
    """A channel's answer to one attempt of one delivery."""

    delivery: Delivery
    outcome: Outcome
    at: Stamp


@dataclass(frozen=True, slots=True)
class OutputReported:
    """What an output really does, read back from it. `on` is None when it could not be read or set."""

    output: str
    on: bool | None
    reason: str
    at: Stamp


@dataclass(frozen=True, slots=True)
class Drill:
    """A person asks that outputs be tested: these, or with none named all that people notice.

    Attributes:
        tell: every recipient is told of the exercise, whatever they hear otherwise.
    """

    outputs: tuple[str, ...]
    by: str
    note: str
    at: Stamp
    tell: bool = False


@dataclass(frozen=True, slots=True)
class SystemCondition:
    """A part of the gateway itself is unwell, or well again.

    Attributes:
        subject: the part: ``journal``, ``web``, ``channel:hook``, ``bus:detectores`` ...
        present: True when it is unwell.
        reason: short code for the words.
    """

    subject: str
    present: bool
    reason: str
    detail: str
    at: Stamp


@dataclass(frozen=True, slots=True)
class ClockSet:
    """The kernel says that something keeps the civil clock right."""

    at: Stamp


@dataclass(frozen=True, slots=True)
class Filed:
    """These lines are to be kept: register entries and findings of the office, weighings. They move no alarm."""

    entries: tuple["Entry", ...]
    at: Stamp


@dataclass(frozen=True, slots=True)
class Breach:
    """A standing condition of the law (`dashboards.office.Breach`)."""

    subject: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Judged:
    """The office has judged: these conditions of the law stand, and no others."""

    breaches: tuple[Breach, ...]
    at: Stamp


Event: TypeAlias = (
    Scan
    | LinkChange
    | Command
    | OpenWindow
    | CloseWindow
    | Committed
    | Delivered
    | OutputReported
    | Drill
    | SystemCondition
    | ClockSet
    | Filed
    | Judged
)


# --- out -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the journal, a leaf of its tree.

    Attributes:
        kind: ``boot``, ``alarm``, ``delivery``, ``output``, ``drill``, ``output-test``,
            ``stop``, ``reload``, ``clock``, ``restore``, ``register``, ``finding``, ``weighing``.
        body: what happened; the journal adds nothing but the person's reference.
        person: the name behind the action; kept in a side table, the leaf holds a salted hash under ``by``.
        encoded: the body's canonical bytes, where somebody has made them already.
    """

    kind: str
    body: Mapping[str, Json]
    person: str | None = None
    encoded: bytes | None = None


class Due(Enum):
    """Where an owed delivery stands in the outbox table."""

    OWED = "owed"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One row of the outbox: written with its event, renewed with each outcome."""

    delivery: Delivery
    state: Due
    changed: UtcNanos


@dataclass(frozen=True, slots=True)
class StateRow:
    """Where one alarm stands, for the restart. `body` None removes it."""

    key: AlarmKey
    body: Mapping[str, Json] | None


@dataclass(frozen=True, slots=True)
class SetOutput:
    """Bring an output to this state. Idempotent; carried out before anything else, journal included."""

    output: str
    on: bool


@dataclass(frozen=True, slots=True)
class Record:
    """Write all of this in one transaction, then answer `Committed` with the ticket."""

    ticket: int
    entries: tuple[Entry, ...]
    outbox: tuple[OutboxRow, ...] = ()
    states: tuple[StateRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Deliver:
    """Make this attempt now."""

    delivery: Delivery
    event: AlarmEvent
    recorded: bool


@dataclass(frozen=True, slots=True)
class Show:
    """Alarms changed: screens want the new picture at once."""


Effect: TypeAlias = SetOutput | Record | Deliver | Show


@dataclass(frozen=True, slots=True)
class Restored:
    """What the journal knew at the last commit.

    Attributes:
        last_seq: the highest alarm event seq; 0 for a new journal.
        states: the alarm states then.
        owed: outbox rows not settled, with the journal body of their event.
        tests: journal bodies of the last tests of outputs, the oldest first.
        last_alive_ms: the latest civil time (ms) at which the watch is known to have run; None for a new journal.
    """

    last_seq: int
    states: tuple[StateRow, ...]
    owed: tuple[tuple[OutboxRow, Mapping[str, Json]], ...]
    last_alive_ms: int | None = None
    tests: tuple[Mapping[str, Json], ...] = ()


__all__ = [
    "Action",
    "Breach",
    "ClockSet",
    "CloseWindow",
    "Command",
    "Committed",
    "Deliver",
    "Delivered",
    "Drill",
    "Due",
    "Effect",
    "Entry",
    "Event",
    "Filed",
    "Json",
    "Judged",
    "Kind",
    "LinkChange",
    "OpenWindow",
    "OutboxRow",
    "OutputReported",
    "Record",
    "Restored",
    "Scan",
    "SetOutput",
    "Show",
    "StateRow",
    "SystemCondition",
    "WindowKind",
]
