"""Heads in their places, carried through a scenario tick by tick. Pure: the same scenario always runs the same."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf

from sensors.profiles import Profile
from simulator.expectations import Expectation
from simulator.happenings import KINDS, Happening, On, Person, StockMove, plight
from simulator.instrument import WELL, Indication, Instrument, Sensor, noise
from simulator.world import Floor, Ground, Place, World

TICK_S = 0.1
"""Heads renew what they show this often, or as seldom as they are built to."""


@dataclass(frozen=True, slots=True)
class Line:
    """A Modbus line.

    Attributes:
        transport: ``tcp``, or ``rtu`` over a pseudo-terminal.
        one_at_a_time: a gateway to a serial line: one request at a time, a mute unit holding all for `mute_wait_s`.
        period_ms, timeout_ms: how it is polled.
    """

    id: str
    transport: str = "tcp"
    one_at_a_time: bool = False
    mute_wait_s: float = 0.2
    period_ms: int = 500
    timeout_ms: int = 200


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
    """One installed head: where it hangs, what it is, how it speaks.

    Attributes:
        profile: installed with `settings`, which are also the keys of its depot.toml entry.
    """

    id: str
    place: Place
    instrument: Instrument
    wire: ModbusWire | MqttWire
    profile: Profile
    settings: Mapping[str, object]


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
    area_name: str
    licensed_kg: float
    ground: Ground
    lines: tuple[Line, ...]
    heads: tuple[Head, ...]
    siren: Siren

    def line(self, name: str) -> Line:
        """Return the line of this name."""
        return next(line for line in self.lines if line.id == name)

    def tcp_lines(self) -> tuple[Line, ...]:
        """Return the lines behind a TCP port."""
        return tuple(line for line in self.lines if line.transport == "tcp")

    def wire_of(self, head: Head) -> str:
        """Return ``tcp``, ``rtu`` or ``mqtt``."""
        return self.line(head.wire.line).transport if isinstance(head.wire, ModbusWire) else "mqtt"

    def modbus_heads(self, line: str) -> tuple[tuple[Head, ModbusWire], ...]:
        """Return the heads on a line."""
        pairs = ((head, head.wire) for head in self.heads)
        return tuple((head, wire) for head, wire in pairs if isinstance(wire, ModbusWire) and wire.line == line)

    def mqtt_heads(self) -> tuple[tuple[Head, MqttWire], ...]:
        """Return the heads that speak MQTT."""
        pairs = ((head, head.wire) for head in self.heads)
        return tuple((head, wire) for head, wire in pairs if isinstance(wire, MqttWire))


@dataclass(frozen=True, slots=True)
class Scenario:
    """A yard and what happens in it. Every head was powered long before, unless a restart says otherwise.

    Attributes:
        title, description: what happens, in a few words and in a few sentences, by language.
        lasts_s: how long it takes until everything expected has been seen.
        expected: what a watch must make of it.
    """

    name: str
    title: Mapping[str, str]
    description: Mapping[str, str]
    seed: int
    lasts_s: float
    yard: Yard
    world: World
    happenings: tuple[Happening, ...] = ()
    people: tuple[Person, ...] = ()
    stock: tuple[StockMove, ...] = ()
    expected: tuple[Expectation, ...] = ()

    def of(self, target: str) -> tuple[Happening, ...]:
        """Return what befalls one head or line."""
        return tuple(each for each in self.happenings if each.target == target)

    def on(self, what: On) -> tuple[Happening, ...]:
        """Return what befalls the broker or the host."""
        return tuple(each for each in self.happenings if KINDS[each.what].on is what)


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
    floor: Floor = field(init=False)
    _sensors: dict[str, Sensor] = field(default_factory=dict)
    _happenings: dict[str, tuple[Happening, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.floor = Floor(self.scenario.world)
        for head in self.scenario.yard.heads:
            self._sensors[head.id] = Sensor(head.instrument)
            self._happenings[head.id] = self.scenario.of(head.id)
            self.shown[head.id] = Indication(0.0)

    @property
    def t_s(self) -> float:
        """Seconds into the scenario."""
        return self.tick * TICK_S

    def step(self) -> None:
        """Go one tick on."""
        self.tick += 1
        t_s = self.t_s
        self.floor.advance(t_s)
        for head in self.scenario.yard.heads:
            befalls = self._happenings[head.id]
            state = plight(head.instrument, befalls, t_s) if befalls or head.instrument.drift_lel_pct_h else WELL
            wander = noise(self.scenario.seed, head.id, self.tick)
            gas = self.floor.lel_pct(head.place)
            self.shown[head.id] = self._sensors[head.id].step(t_s, TICK_S, gas, wander, state)


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


def crossings(scenario: Scenario, set_points: tuple[float, ...], until_s: float = inf) -> list[Crossing]:
    """Return the truth: what first shows which set-point, and when, in the order of time."""
    course, watcher = Course(scenario), Watcher(set_points)
    found: list[Crossing] = []
    while course.t_s < min(until_s, scenario.lasts_s):
        course.step()
        for head in scenario.yard.heads:
            found += watcher.crossed(head.id, course.tick, round(course.shown[head.id].lel_pct, 1))
    return found
