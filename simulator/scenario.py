"""Reads scenarios from TOML. Every error names file and key, what is wrong and what would be right."""

from importlib import resources
from math import inf
from pathlib import Path

from alerts.alarms import Kind
from alerts.messages.catalogue import LANGUAGES
from sensors.sentences import Sentence
from sensors.wire.meanings import SAYINGS
from simulator.expectations import EVENTS, LEVELS, Expectation
from simulator.happenings import KINDS, Happening, On, Person, StockMove, What
from simulator.sources import Hole, Phase, Rates
from simulator.tables import ScenarioError, TableText, is_number, perhaps, read_table
from simulator.world import Air, Ground, Leak, World
from simulator.yard import Scenario, Yard
from simulator.yard_file import parse_yard

__all__ = ["ScenarioError", "load", "names", "parse"]

HERE = resources.files("simulator")
LONGEST_S = 86_400.0


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
            raise ScenarioError(Sentence("{place}: {why}", place=name, why=Sentence("no such file")))
        return parse(path.stem, path.name, path.read_text(encoding="utf-8"))
    if name not in names():
        known = Sentence("; there are: {known}", known=", ".join(names()))
        raise ScenarioError(Sentence("no scenario {got}{hint}", got=repr(name), hint=perhaps(name, names()) or known))
    return parse(name, f"scenarios/{name}.toml", (HERE / "scenarios" / f"{name}.toml").read_text(encoding="utf-8"))


def parse(name: str, file: str, text: str) -> Scenario:
    """Read a scenario's text; `file` is its name in messages.

    Raises:
        ScenarioError: if it cannot be used.
    """
    top = read_table(file, text)
    yard = _yard(top)
    scenario = Scenario(
        name=name,
        title=_words(top.table("title")),
        description=_words(top.table("description")),
        seed=top.whole("seed", 0, 2**63 - 1),
        lasts_s=top.number("lasts_s", 1, LONGEST_S),
        yard=yard,
        world=World(
            _air(top.table("air")), tuple(_leak(item, yard.ground) for item in top.tables("leak")), yard.ground
        ),
        happenings=tuple(_happening(item, yard) for item in top.tables("event")),
        people=tuple(_person(item) for item in top.tables("person")),
        stock=tuple(_stock(item, yard) for item in top.tables("stock")),
        expected=tuple(_expected(item, yard) for item in top.tables("expect")),
    )
    top.done()
    return scenario


def _yard(top: TableText) -> Yard:
    name = top.text("yard")
    source = HERE / "yards" / f"{name}.toml"
    if not name.isidentifier() or not source.is_file():
        top.fail("yard", "there is no yard {got} beside the simulator's own", got=repr(name))
    return parse_yard(name, f"yards/{name}.toml", source.read_text(encoding="utf-8"))


def _words(table: TableText) -> dict[str, str]:
    words = {language: table.text(language) for language in LANGUAGES}
    table.done()
    return words


def _air(table: TableText) -> Air:
    usual = Air()
    air = Air(
        wind_m_s=table.number("wind_m_s", 0, 40),
        towards_deg=table.number("towards_deg", 0, 360),
        relative_density=table.number("relative_density", 1.05, 3, default=usual.relative_density),
        lel_vol_pct=table.number("lel_vol_pct", 0.5, 5, default=usual.lel_vol_pct),
        mixing_s=table.number("mixing_s", 1, 600) if table.has("mixing_s") else None,
    )
    table.done()
    return air


def _leak(item: TableText, ground: Ground) -> Leak:
    x_m, y_m = item.number("x_m", 0, ground.east_m), item.number("y_m", 0, ground.north_m)
    if item.has("rate_kg_h") == item.has("hole_mm"):
        item.fail("rate_kg_h", "a leak has either `rate_kg_h` or `hole_mm` with `phase`, `contents_kg` and `opens_s`")
    source = _rates(item) if item.has("rate_kg_h") else _hole(item)
    item.done()
    return Leak(x_m, y_m, source)


def _hole(item: TableText) -> Hole:
    opens_s = item.number("opens_s", 0, LONGEST_S)
    closes_s = item.number("closes_s", 0, LONGEST_S) if item.has("closes_s") else inf
    if closes_s <= opens_s:
        item.fail(
            "closes_s", "must lie after {before}, got {got}", before=f"opens_s = {opens_s:g}", got=f"{closes_s:g}"
        )
    return Hole(
        Phase(item.choice("phase", [phase.value for phase in Phase])),
        item.number("hole_mm", 0.05, 100),
        item.number("contents_kg", 0.01, 1e6),
        opens_s,
        closes_s,
    )


def _rates(item: TableText) -> Rates:
    raw = item.get("rate_kg_h")
    if not isinstance(raw, list) or not raw:
        item.fail("rate_kg_h", "must be a list of [seconds, kg/h], got {got}", got=repr(raw))
    points: list[tuple[float, float]] = []
    for entry in raw:
        if not isinstance(entry, list) or len(entry) != 2 or not all(is_number(part) for part in entry):
            item.fail("rate_kg_h", "each entry is [seconds, kg/h], got {got}", got=repr(entry))
        if entry[0] < 0 or entry[1] < 0:
            item.fail("rate_kg_h", "neither time nor rate can be negative, got {got}", got=repr(entry))
        if points and entry[0] <= points[-1][0]:
            got, before = f"{entry[0]:g}", f"{points[-1][0]:g}"
            item.fail("rate_kg_h", "times must rise, but {got} follows {before}", got=got, before=before)
        points.append((float(entry[0]), float(entry[1])))
    return Rates(tuple(points))


def _happening(item: TableText, yard: Yard) -> Happening:
    what = What(item.choice("what", [each.value for each in What]))
    kind = KINDS[what]
    at_s = item.number("at_s", 0, LONGEST_S)
    until_s = inf
    if kind.lasting and item.has("until_s"):
        until_s = item.number("until_s", 0, LONGEST_S)
        if until_s <= at_s:
            item.fail("until_s", "must lie after {before}, got {got}", before=f"at_s = {at_s:g}", got=f"{until_s:g}")
    amount = item.number(*kind.amount) if kind.amount is not None else 0.0
    word = item.choice("word", SAYINGS) if what is What.SAYS else ""
    happening = Happening(what, _target(item, what, yard), at_s, until_s, amount, word)
    item.done()
    return happening


def _target(item: TableText, what: What, yard: Yard) -> str:
    kind = KINDS[what]
    if kind.on not in (On.HEAD, On.LINE):
        return ""
    target = item.text(kind.on.value)
    if kind.on is On.LINE:
        known = {line.id: line.transport for line in yard.lines}
    else:
        known = {head.id: yard.wire_of(head) for head in yard.heads}
    if target not in known:
        hint, got, where = perhaps(target, known), repr(target), repr(yard.name)
        item.fail(kind.on.value, "{got} is nowhere in yard {yard}{hint}", got=got, yard=where, hint=hint)
    if known[target] not in kind.wires:
        wire, got = known[target], repr(target)
        item.fail("what", "{what} cannot befall {got}, which is on {wire}", what=what.value, got=got, wire=wire)
    return target


def _person(item: TableText) -> Person:
    person = Person(
        item.text("name"),
        item.number("acknowledges_after_s", 0, LONGEST_S) if item.has("acknowledges_after_s") else None,
        item.number("resets_after_s", 0, LONGEST_S) if item.has("resets_after_s") else None,
    )
    item.done()
    return person


def _stock(item: TableText, yard: Yard) -> StockMove:
    area = item.choice("area", [yard.area])
    move = StockMove(item.number("at_s", 0, LONGEST_S), area, item.text("container"), item.whole("pieces", -9999, 9999))
    if not move.pieces:
        item.fail("pieces", "must be more than 0 for cylinders brought, less for cylinders taken, got 0")
    item.done()
    return move


def _expected(item: TableText, yard: Yard) -> Expectation:
    event = item.choice("event", EVENTS)
    kind = item.choice("kind", [kind.value for kind in Kind], default=Kind.GAS.value)
    subject = item.text("subject")
    if kind in ("GAS", "BLIND") and subject != "*":
        item.choice("subject", [head.id for head in yard.heads])
    from_s = item.number("from_s", 0, LONGEST_S, default=0.0)
    by_s = item.number("by_s", 0, LONGEST_S) if item.has("by_s") or event != "never" else inf
    if by_s < from_s:
        item.fail("by_s", "must not lie before {before}, got {got}", before=f"from_s = {from_s:g}", got=f"{by_s:g}")
    level = item.choice("level", LEVELS) if item.has("level") else ""
    recipient = item.text("recipient") if event == "told" else ""
    item.done()
    return Expectation(event, subject, kind, level, from_s, by_s, recipient)
