"""Heads in their places, carried through a scenario tick by tick. Pure: the same scenario always runs the same."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from simulator.instrument import Indication, Instrument, follow, indicate, noise
from simulator.world import Place, World

TICK_S = 0.1
"""Heads renew what they show this often."""


@dataclass(frozen=True, slots=True)
class ModbusWire:
    """A unit on a Modbus line."""

    line: str
    unit: int


@dataclass(frozen=True, slots=True)
class MqttWire:
    """A topic at the broker."""

    topic: str


@dataclass(frozen=True, slots=True)
class Head:
    """One installed head: where it hangs, what it is, how it speaks."""

    id: str
    place: Place
    instrument: Instrument
    wire: ModbusWire | MqttWire


@dataclass(frozen=True, slots=True)
class Siren:
    """A siren on a coil."""

    line: str
    unit: int
    coil: int


@dataclass(frozen=True, slots=True)
class Yard:
    """What is installed. `lines` are the Modbus lines, the siren's included."""

    name: str
    area: str
    licensed_kg: float
    lines: tuple[str, ...]
    heads: tuple[Head, ...]
    siren: Siren

    def modbus_heads(self, line: str) -> tuple[tuple[Head, ModbusWire], ...]:
        """Return the heads on a line."""
        pairs = ((head, head.wire) for head in self.heads)
        return tuple((head, wire) for head, wire in pairs if isinstance(wire, ModbusWire) and wire.line == line)

    def mqtt_heads(self) -> tuple[tuple[Head, MqttWire], ...]:
        """Return the heads that speak MQTT."""
        pairs = ((head, head.wire) for head in self.heads)
        return tuple((head, wire) for head, wire in pairs if isinstance(wire, MqttWire))


@dataclass(frozen=True, slots=True)
class Restart:
    """A head loses power for a moment, and warms up again."""

    head: str
    at_s: float


@dataclass(frozen=True, slots=True)
class Scenario:
    """A yard and what happens in it. Every head was powered long before, unless a restart says otherwise.

    Attributes:
        title: what happens, in a few words, by language.
    """

    name: str
    title: Mapping[str, str]
    seed: int
    yard: Yard
    world: World
    restarts: tuple[Restart, ...] = ()


@dataclass(frozen=True, slots=True)
class Crossing:
    """The first moment of an episode at which a head shows a set-point or more."""

    head: str
    set_point: float
    tick: int
    lel_pct: float

    @property
    def t_s(self) -> float:
        """Seconds into the scenario."""
        return self.tick * TICK_S


@dataclass(slots=True)
class Course:
    """Where a scenario stands: what each head senses and shows at `tick`. Starts in clean air, just before tick 0."""

    scenario: Scenario
    tick: int = -1
    shown: dict[str, Indication] = field(default_factory=dict)
    _sensed: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for head in self.scenario.yard.heads:
            self._sensed[head.id] = 0.0
            self.shown[head.id] = self._indication(head)

    def step(self) -> None:
        """Go one tick on."""
        self.tick += 1
        t_s = self.tick * TICK_S
        for head in self.scenario.yard.heads:
            gas = self.scenario.world.lel_pct(head.place, t_s)
            self._sensed[head.id] = follow(self._sensed[head.id], gas, TICK_S, head.instrument.t90_s)
            self.shown[head.id] = self._indication(head)

    def _indication(self, head: Head) -> Indication:
        wander = noise(self.scenario.seed, head.id, self.tick)
        return indicate(head.instrument, self._sensed[head.id], wander, self._powered_s(head))

    def _powered_s(self, head: Head) -> float:
        t_s = self.tick * TICK_S
        starts = [restart.at_s for restart in self.scenario.restarts if restart.head == head.id and restart.at_s <= t_s]
        return t_s - max(starts) if starts else float("inf")


@dataclass(slots=True)
class Watcher:
    """Notices when a head first shows a set-point. An episode ends once it shows less than half of it."""

    set_points: tuple[float, ...]
    _above: set[tuple[str, float]] = field(default_factory=set)

    def crossed(self, head: str, tick: int, lel_pct: float) -> Iterator[Crossing]:
        """Yield the set-points that this new value of `head` is the first to reach."""
        for set_point in self.set_points:
            if lel_pct >= set_point:
                if (head, set_point) not in self._above:
                    self._above.add((head, set_point))
                    yield Crossing(head, set_point, tick, lel_pct)
            elif lel_pct < set_point / 2.0:
                self._above.discard((head, set_point))


def registered(indication: Indication) -> int:
    """Return the value register: tenths of a %LEL, as all demo heads give it on either wire."""
    return round(indication.lel_pct * 10.0)


def crossings(scenario: Scenario, set_points: tuple[float, ...], until_s: float) -> list[Crossing]:
    """Return the truth: what first shows which set-point, and when, in the order of time."""
    course, watcher = Course(scenario), Watcher(set_points)
    found: list[Crossing] = []
    while course.tick * TICK_S < until_s:
        course.step()
        for head in scenario.yard.heads:
            found += watcher.crossed(head.id, course.tick, registered(course.shown[head.id]) / 10.0)
    return found
