"""Reads yards and scenarios from TOML. Every error names file and key, what is wrong and what would be right."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import resources
from math import isfinite
from pathlib import Path
from typing import NoReturn, TypeGuard

from alerts.messages.catalogue import LANGUAGES
from simulator.instrument import Instrument
from simulator.world import Air, Leak, Place, World
from simulator.yard import Head, ModbusWire, MqttWire, Restart, Scenario, Siren, Yard

HERE = resources.files("simulator")


class ScenarioError(Exception):
    """A scenario or yard file that cannot be used. For its author."""


@dataclass(slots=True)
class _Table:
    """A TOML table that knows where it stands, and which of its keys were asked for."""

    file: str
    path: str
    values: Mapping[str, object]
    asked: set[str] = field(default_factory=set)

    def fail(self, key: str, why: str) -> NoReturn:
        """Raise for one key."""
        where = f"{self.path}.{key}" if self.path else key
        raise ScenarioError(f"{self.file}: {where}: {why}")

    def has(self, key: str) -> bool:
        return key in self.values

    def get(self, key: str, default: object = None) -> object:
        self.asked.add(key)
        if key not in self.values and default is None:
            self.fail(key, "is missing")
        return self.values.get(key, default)

    def text(self, key: str) -> str:
        value = self.get(key)
        if not isinstance(value, str) or not value:
            self.fail(key, f"must be a text in quotes, got {value!r}")
        return value

    def number(self, key: str, low: float, high: float, default: float | None = None) -> float:
        value = self.get(key, default)
        if not is_number(value):
            self.fail(key, f"must be a number from {low:g} to {high:g}, got {value!r}")
        if not low <= value <= high:
            self.fail(key, f"must lie from {low:g} to {high:g}, got {value:g}")
        return float(value)

    def whole(self, key: str, low: int, high: int) -> int:
        value = self.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            self.fail(key, f"must be a whole number from {low} to {high}, got {value!r}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(item, str) and item for item in value):
            self.fail(key, f'must be a list such as ["linha-1"], got {value!r}')
        return tuple(value)

    def table(self, key: str) -> "_Table":
        value = self.get(key)
        if not isinstance(value, dict):
            self.fail(key, f"must be a table ([{key}]), got {value!r}")
        return _Table(self.file, f"[{key}]", value)

    def tables(self, key: str) -> "list[_Table]":
        value = self.get(key, ())
        if not isinstance(value, Sequence) or not all(isinstance(item, dict) for item in value):
            self.fail(key, f"must be written as [[{key}]], got {value!r}")
        return [_Table(self.file, f"[[{key}]] {number}", item) for number, item in enumerate(value, start=1)]

    def done(self) -> None:
        """Refuse keys that nobody asked for.

        Raises:
            ScenarioError: with the nearest known key.
        """
        for key in self.values:
            if key not in self.asked:
                near = get_close_matches(key, self.asked, n=1)
                known = ", ".join(sorted(self.asked))
                self.fail(
                    key, f"unknown key; did you mean {near[0]!r}?" if near else f"unknown key; known are: {known}"
                )


def is_number(value: object) -> TypeGuard[int | float]:
    """Tell whether a TOML value is a number (a truth value is none, nor are nan and inf)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def names() -> list[str]:
    """Return the names of the scenarios that come with the simulator."""
    return sorted(
        entry.name.removesuffix(".toml") for entry in (HERE / "scenarios").iterdir() if entry.name.endswith(".toml")
    )


def load(name: str) -> Scenario:
    """Read a scenario by its name, or by the path of a file that ends in ``.toml``.

    Raises:
        ScenarioError: if there is none of that name, or the file or its yard cannot be used.
    """
    if name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            raise ScenarioError(f"{name}: no such file")
        return parse(path.stem, path.name, path.read_text(encoding="utf-8"))
    if name not in names():
        near = get_close_matches(name, names(), n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names())}"
        raise ScenarioError(f"no scenario {name!r}; {hint}")
    return parse(name, f"scenarios/{name}.toml", (HERE / "scenarios" / f"{name}.toml").read_text(encoding="utf-8"))


def parse(name: str, file: str, text: str) -> Scenario:
    """Read a scenario's text; `file` is its name in messages.

    Raises:
        ScenarioError: if it cannot be used.
    """
    top = _top(file, text)
    yard_name = top.text("yard")
    source = HERE / "yards" / f"{yard_name}.toml"
    if not yard_name.isidentifier() or not source.is_file():
        top.fail("yard", f"there is no yard {yard_name!r} beside the simulator's own")
    yard = parse_yard(yard_name, f"yards/{yard_name}.toml", source.read_text(encoding="utf-8"))
    scenario = Scenario(
        name=name,
        title=_title(top.table("title")),
        seed=top.whole("seed", 0, 2**63 - 1),
        yard=yard,
        world=World(_air(top.table("air")), tuple(_leak(item) for item in top.tables("leak"))),
        restarts=tuple(_restart(item, yard) for item in top.tables("restart")),
    )
    top.done()
    return scenario


def parse_yard(name: str, file: str, text: str) -> Yard:
    """Read a yard's text; `file` is its name in messages.

    Raises:
        ScenarioError: if it cannot be used.
    """
    top = _top(file, text)
    lines = top.texts("lines")
    table = top.table("siren")
    siren = Siren(_line(table, lines), table.whole("unit", 1, 247), table.whole("coil", 0, 15))
    table.done()
    heads: list[Head] = []
    taken: dict[object, str] = {(siren.line, siren.unit): "the siren"}
    for item in top.tables("head"):
        head = _head(item, lines)
        for key in (
            head.id,
            (head.wire.line, head.wire.unit) if isinstance(head.wire, ModbusWire) else head.wire.topic,
        ):
            if key in taken:
                item.fail("id", f"{head.id}: {key!r} is already taken by {taken[key]}")
            taken[key] = head.id
        heads.append(head)
    if not heads:
        top.fail("head", "a yard needs at least one [[head]]")
    yard = Yard(name, top.text("area"), top.number("licensed_kg", 1, 1e7), lines, tuple(heads), siren)
    top.done()
    return yard


def _top(file: str, text: str) -> _Table:
    try:
        return _Table(file, "", tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{file}: {error}") from error


def _line(table: _Table, lines: tuple[str, ...]) -> str:
    line = table.text("line")
    if line not in lines:
        table.fail("line", f"{line!r} is not among the yard's lines ({', '.join(lines)})")
    return line


def _head(item: _Table, lines: tuple[str, ...]) -> Head:
    name = item.text("id")
    if item.has("topic") == item.has("line"):
        item.fail("topic", f"{name}: a head has either `topic` (MQTT) or `line` and `unit` (Modbus)")
    wire: ModbusWire | MqttWire
    if item.has("topic"):
        wire = MqttWire(item.text("topic"))
    else:
        wire = ModbusWire(_line(item, lines), item.whole("unit", 1, 247))
    place = Place(item.number("x_m", -1e4, 1e4), item.number("y_m", -1e4, 1e4), item.number("height_m", 0, 10))
    instrument = Instrument(
        t90_s=item.number("t90_s", 0, 300),
        warm_up_s=item.number("warm_up_s", 0, 3600, default=60.0),
        full_scale=item.number("full_scale", 1, 1000, default=100.0),
    )
    item.done()
    return Head(name, place, instrument, wire)


def _title(table: _Table) -> dict[str, str]:
    title = {language: table.text(language) for language in LANGUAGES}
    table.done()
    return title


def _air(table: _Table) -> Air:
    usual = Air()
    air = Air(
        wind_m_s=table.number("wind_m_s", 0, 40),
        towards_deg=table.number("towards_deg", 0, 360),
        relative_density=table.number("relative_density", 1.05, 3, default=usual.relative_density),
        lel_vol_pct=table.number("lel_vol_pct", 0.5, 5, default=usual.lel_vol_pct),
        mixing_s=table.number("mixing_s", 1, 600, default=usual.mixing_s),
    )
    table.done()
    return air


def _leak(item: _Table) -> Leak:
    x_m, y_m = item.number("x_m", -1e4, 1e4), item.number("y_m", -1e4, 1e4)
    raw = item.get("rate_kg_h")
    if not isinstance(raw, list) or not raw:
        item.fail("rate_kg_h", f"must be a list of [seconds, kg/h], got {raw!r}")
    points: list[tuple[float, float]] = []
    for entry in raw:
        if not isinstance(entry, list) or len(entry) != 2 or not all(is_number(part) for part in entry):
            item.fail("rate_kg_h", f"each entry is [seconds, kg/h], got {entry!r}")
        if entry[0] < 0 or entry[1] < 0:
            item.fail("rate_kg_h", f"neither time nor rate can be negative, got {entry!r}")
        if points and entry[0] <= points[-1][0]:
            item.fail("rate_kg_h", f"times must rise, but {entry[0]:g} follows {points[-1][0]:g}")
        points.append((float(entry[0]), float(entry[1])))
    item.done()
    return Leak(x_m, y_m, tuple(points))


def _restart(item: _Table, yard: Yard) -> Restart:
    head = item.text("head")
    if head not in {known.id for known in yard.heads}:
        item.fail("head", f"{head!r} hangs nowhere in yard {yard.name!r}")
    restart = Restart(head, item.number("at_s", 0, 1e6))
    item.done()
    return restart
