"""What the screens ask of the gateway and what they get: the words that cross the control socket.

Every value is JSON-ready. Times are RFC 3339 UTC with milliseconds; ages are seconds at the moment of sending, so that
a screen with a wrong clock still shows a right age. One message is one line of JSON.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from dashboards.office import File, Judged

Minutes = Annotated[float, Meta(ge=0, le=10_000_000)]
"""How long something is to last; the depot's own limits are far narrower."""


class WindowView(msgspec.Struct, frozen=True):
    """What a person declared over one head, and why. `by` is empty where the name was erased or never known."""

    kind: Literal["test", "inhibit", "out-of-service"]
    by: str
    until: str
    why: str = ""


class SuppressionView(msgspec.Struct, frozen=True):
    """What keeps an alarm quiet: a person's shelf, a configured rule, or that its head is out of service."""

    kind: Literal["shelved", "by-design", "out-of-service"]
    by: str
    why: str
    since: str
    until: str


class DetectorView(msgspec.Struct, frozen=True):
    """One detector as a screen needs it. `lel_pct` None with `at_least` set is a head without a number.

    Attributes:
        name, area_name: as people call it and its area; the id where nobody gave it another name.
        window: what a person declared over it; None where nothing stands.
    """

    id: str
    area: str
    source: str
    lel_pct: float | None
    at_least: float | None
    quality: str
    status: str
    reason: str
    taken: str | None
    age_s: float | None
    a1: float
    a2: float
    a3: float
    watching: bool
    worst_case_s: float
    certified: bool
    name: str = ""
    area_name: str = ""
    window: WindowView | None = None


class Well(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A detector that was read anew and is plainly well, as nearly all are each second: what of its view may move.

    It is watching, good, measuring a number, without a reason and under no window; all else is as in the snapshot.
    """

    id: str
    lel_pct: float | None
    taken_ms: int
    age_s: float


class GuidanceView(msgspec.Struct, frozen=True):
    """Why an alarm is probably there, and what to do next, in one language."""

    likely_cause: str
    next_action: str


class PlaceView(msgspec.Struct, frozen=True):
    """Where an alarm is, as its sentence says it (`alerts.messages.words.Place`)."""

    depot: str
    address: str = ""
    area: str = ""
    detector: str = ""
    detector_name: str = ""


class Unsaid(msgspec.Struct, frozen=True):
    """What an alarm's sentences are made of beside the rest of its view.

    Attributes:
        age_s: how old it is, or was when its condition went; as exact as a sentence tells it.
    """

    place: PlaceView
    age_s: int
    drill: bool
    over_range: bool


class AlarmView(msgspec.Struct, frozen=True):
    """One standing alarm, as ``GET alarms`` answers it.

    Attributes:
        text: the sentence for people in the depot's language.
        texts: the same in every language that is written, by its code: a page speaks one language.
        likely_cause, next_action: in the depot's language; `guidance` has both in every language.
        suppression: what keeps it quiet; None while nothing does. Its state goes on underneath and may be ``normal``.
        can_shelve: whether a person may shelve it now.
        unsaid: from the watch, which says nothing itself: what `dashboards.speaking` makes the sentences of. Absent
            once they are there.
    """

    id: str
    subject: str
    kind: str
    level: str | None
    state: str
    present: bool
    latched: bool
    lel_pct: float | None
    peak: float | None
    quality: str
    since: str
    sampled: str
    decided: str
    first_output: str | None
    acknowledged_by: str | None
    muted: bool
    reason: str
    detail: str
    area: str
    text: str
    texts: dict[str, str] = {}
    seq: int = 0
    suppression: SuppressionView | None = None
    can_shelve: bool = False
    likely_cause: str = ""
    next_action: str = ""
    guidance: dict[str, GuidanceView] = {}
    unsaid: Unsaid | msgspec.UnsetType = msgspec.UNSET


class OutputView(msgspec.Struct, frozen=True):
    """An output: what is wanted of it and what it was last read to do (None: unknown).

    Attributes:
        name: as people call it; its id where nobody gave it another.
        tested: when it was last tested; None for never. `test_failed` says why not passed; empty where it was.
    """

    id: str
    wanted: bool
    confirmed: bool | None
    reason: str
    age_s: float | None
    name: str = ""
    kind: str = ""
    tested: str | None = None
    test_failed: str = ""


class LinkView(msgspec.Struct, frozen=True):
    """A bus, broker or channel: up, and since when (seconds)."""

    id: str
    up: bool
    reason: str
    age_s: float


class ContactView(msgspec.Struct, frozen=True):
    """Somebody to call: who, in which role of ``[[recipient]]``, by which number."""

    name: str
    role: str
    phone: str


class DepotView(msgspec.Struct, frozen=True):
    """Who is watched, and by which program.

    Attributes:
        vkey: the key that signs the journal's checkpoints; empty without.
        areas: what the storage areas are called, by id, where somebody gave them a name.
        access: how one gets in and where the water is; empty where nobody said.
        contacts: who can be called, in the configuration's order.
    """

    id: str
    name: str
    address: str
    timezone: str
    language: str
    version: str
    started: str
    vkey: str = ""
    areas: dict[str, str] = {}
    access: str = ""
    contacts: tuple[ContactView, ...] = ()


class Snapshot(msgspec.Struct, frozen=True, tag="snapshot"):
    """The whole picture; the first message of every live channel, and the answer to ``GET state``.

    Attributes:
        seq: number of the last change it contains.
        at: the moment of sending; a screen on the same machine adds the time in transit to every age.
        worst_ms: the slowest first output measured since start (ms); None before the first alarm.
        worst_case_s: the slowest detector's computed budget (s).
        silence_s: how long *silence* mutes the horn (s).
    """

    seq: int
    at: str
    depot: DepotView
    detectors: tuple[DetectorView, ...]
    alarms: tuple[AlarmView, ...]
    outputs: tuple[OutputView, ...]
    links: tuple[LinkView, ...]
    worst_ms: float | None
    worst_case_s: float
    alive: bool
    silence_s: float


class Change(msgspec.Struct, frozen=True, tag="change"):
    """What changed since `seq` - 1; sent at least once a second, so that it is the heartbeat too.

    Attributes:
        detectors: those whose view changed (every detector whose reading was renewed counts).
        well: from the watch: those of them that are told in short; `dashboards.speaking` makes views of them. Absent
            once they are there.
        alarms: the whole list when any alarm changed; None when none did.
        outputs, links: likewise.
    """

    seq: int
    at: str
    detectors: tuple[DetectorView, ...] = ()
    alarms: tuple[AlarmView, ...] | None = None
    outputs: tuple[OutputView, ...] | None = None
    links: tuple[LinkView, ...] | None = None
    worst_ms: float | None = None
    alive: bool = True
    well: tuple[Well, ...] | msgspec.UnsetType = msgspec.UNSET


class Act(msgspec.Struct, frozen=True, tag="act"):
    """A person acts on the alarm with this id. `ref` comes back in the answer.

    `seen` is the alarm's `seq` on the screen they acted from: where it has risen or returned since, the answer is
    ``changed`` and nothing is done. None (other programs) takes the alarm as it is. `minutes` is how long to shelve.
    """

    ref: int
    action: Literal["acknowledge", "silence", "reset", "shelve", "unshelve"]
    alarm: str
    by: str
    note: str = ""
    seen: int | None = None
    minutes: Minutes = 0.0


class Window(msgspec.Struct, frozen=True, tag="window"):
    """A person takes one head out of the watch for so many minutes, or ends what stands over it."""

    ref: int
    kind: Literal["test", "inhibit", "out-of-service", "close"]
    detector: str
    by: str
    note: str = ""
    minutes: Minutes = 0.0


class Drill(msgspec.Struct, frozen=True, tag="drill"):
    """A person has outputs tested: these, or with none named all that people notice.

    With `tell` every recipient gets a notice that it is an exercise.
    """

    ref: int
    by: str
    outputs: Annotated[tuple[str, ...], Meta(max_length=1000)] = ()
    note: str = ""
    tell: bool = False


class Subscribe(msgspec.Struct, frozen=True, tag="subscribe"):
    """Ask for a `Snapshot` now and a `Change` whenever one is due."""


class Rest(msgspec.Struct, frozen=True, tag="rest"):
    """Nobody looks: until the next `Subscribe` only a `Change` a second is wanted, and no heads in it."""


class Ask(msgspec.Struct, frozen=True, tag="ask"):
    """Ask for one `Snapshot` (``vigia status``) or the figures of ``/metrics``."""

    ref: int
    what: Literal["snapshot", "metrics"]


class Figure(msgspec.Struct, frozen=True, omit_defaults=True):
    """One figure of ``/metrics``.

    Attributes:
        name: without the prefix ``vigia_``; ends in ``_total`` if, and only if, it counts up since the start.
        about: what it tells, in a few words: the same for every figure of one name.
        labels: what tells it from the others of its name.
    """

    name: str
    about: str
    value: float
    labels: dict[str, str] = {}


class Answer(msgspec.Struct, frozen=True, tag="answer"):
    """The answer to an `Act` or `Ask`.

    `error` is a code: ``unknown-alarm``, ``unknown-detector``, ``unknown-output``, ``not-possible``, ``changed``,
    ``needs-name``, ``needs-reason``, ``busy``, ``too-large`` (the picture is longer than a line may be),
    ``bad-request`` (a line that is none of `ToGateway`; `detail` says where and what is wrong; `ref` is 0 where it
    could not be read).
    """

    ref: int
    ok: bool
    error: str = ""
    detail: str = ""
    snapshot: Snapshot | None = None
    metrics: tuple[Figure, ...] | None = None


ToGateway = Act | Window | Drill | Subscribe | Rest | Ask | File | Judged
ToScreen = Snapshot | Change | Answer


class Heartbeat(msgspec.Struct, frozen=True, tag="heartbeat"):
    """The web child to every browser, each second, while the gateway is heard.

    Attributes:
        seq: the last change sent to this browser or waiting for it.
        age_s: since the gateway was last heard.
    """

    seq: int
    at: str
    age_s: float


class Lost(msgspec.Struct, frozen=True, tag="lost"):
    """The web child to every browser, at once and then each second, while the gateway is not heard.

    Attributes:
        age_s: since the gateway was last heard; None when it never was.
    """

    at: str
    age_s: float | None


ToBrowser = Snapshot | Change | Heartbeat | Lost
