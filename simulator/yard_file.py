"""Reads yards from TOML: the ground and its walls, the lines, the heads with their profiles, the siren."""

from collections.abc import Mapping
from typing import Final

from sensors import profiles
from sensors.profiles import Profile, ProfileError
from sensors.sentences import Sentence
from sensors.wire.payload_points import PayloadPoints
from sensors.wire.topics import TopicError
from simulator.instrument import Instrument
from simulator.tables import TableText, perhaps, read_table
from simulator.world import Ground, Place, Wall
from simulator.yard import TICK_S, Head, Line, ModbusWire, MqttWire, Siren, Yard

VALUE, STATUS = 0, 1
"""Registers of a head without a profile of its own: tenths of a %LEL, and its status bits."""
PUBLISH_S: Final = 0.5
"""An MQTT head speaks this often."""
STATUS_BITS: Final = {"fault": [0], "warm_up": [1], "over_range": [2], "inhibited": [3]}

OWN: Final[Mapping[str, tuple[str, Mapping[str, object]]]] = {
    "modbus": (
        "generic-modbus",
        {
            "register": VALUE,
            "function": "holding",
            "type": "uint16",
            "scale": 0.1,
            "unit_of_value": "lel_pct",
            "full_scale": 100,
            "status_register": STATUS,
            "bits": STATUS_BITS,
            "refresh_s": TICK_S,
        },
    ),
    "mqtt": (
        "mqtt-json",
        {
            "value": "/lel",
            "sequence": "/seq",
            "unit_of_value": "lel_pct",
            "full_scale": 100,
            "states": [
                {"pointer": "/state", "words": {word: word for word in ("measuring", "warm_up", "fault", "inhibited")}}
            ],
            "refresh_s": PUBLISH_S,
        },
    ),
}
"""Profile and keys of a head that names none."""

SIDES: Final = ("north", "south", "east", "west")
TRANSPORTS: Final = ("tcp", "rtu")


def parse_yard(name: str, file: str, text: str) -> Yard:
    """Read a yard's text; `file` is its name in messages.

    Raises:
        ScenarioError: if it cannot be used.
    """
    top = read_table(file, text)
    ground = _ground(top)
    lines = tuple(_line(item) for item in top.tables("line"))
    if not lines:
        top.fail("line", "a yard needs at least one [[line]]")
    table = top.table("siren")
    siren = Siren(_line_name(table, lines), table.whole("unit", 1, 247), table.whole("coil", 0, 15))
    table.done()
    heads: list[Head] = []
    taken: dict[object, str] = {(siren.line, siren.unit): Sentence("the siren")}
    for item in top.tables("head"):
        head = _head(item, lines, ground)
        for key in (head.id, _address(head)):
            if key in taken:
                item.fail(
                    "id", "{head}: {got} is already taken by {taken}", head=head.id, got=repr(key), taken=taken[key]
                )
            taken[key] = head.id
        heads.append(head)
    if not heads:
        top.fail("head", "a yard needs at least one [[head]]")
    area, called, kg = top.text("area"), top.text("area_name"), top.number("licensed_kg", 1, 1e7)
    yard = Yard(name, area, called, kg, ground, lines, tuple(heads), siren)
    top.done()
    return yard


def _ground(top: TableText) -> Ground:
    table = top.table("ground")
    east, north = table.whole("east_m", 2, 100), table.whole("north_m", 2, 100)
    walled = table.texts("walled") if table.has("walled") else ()
    for side in walled:
        if side not in SIDES:
            table.fail("walled", "sides are {known}, got {got}", known=", ".join(SIDES), got=repr(side))
    table.done()
    along = {
        "north": Wall(0, north, east, north),
        "south": Wall(0, 0, east, 0),
        "east": Wall(east, 0, east, north),
        "west": Wall(0, 0, 0, north),
    }
    return Ground(east, north, (*(along[side] for side in walled), *(_wall(item) for item in top.tables("wall"))))


def _wall(item: TableText) -> Wall:
    (x1, y1), (x2, y2) = item.wholes("from", 2), item.wholes("to", 2)
    if (x1 == x2) == (y1 == y2):
        item.fail("to", "a wall runs straight east or north from {start}, got {got}", start=[x1, y1], got=[x2, y2])
    item.done()
    return Wall(x1, y1, x2, y2)


def _line(item: TableText) -> Line:
    usual = Line("")
    line = Line(
        id=item.text("id"),
        transport=item.choice("transport", TRANSPORTS, default=usual.transport),
        one_at_a_time=item.flag("one_at_a_time"),
        mute_wait_s=item.number("mute_wait_s", 0.01, 10, default=usual.mute_wait_s),
        period_ms=item.whole("period_ms", 20, 60_000, default=usual.period_ms),
        timeout_ms=item.whole("timeout_ms", 10, 30_000, default=usual.timeout_ms),
    )
    item.done()
    return line


def _line_name(table: TableText, lines: tuple[Line, ...]) -> str:
    name, known = table.text("line"), [line.id for line in lines]
    if name not in known:
        table.fail("line", "{got} is not among the yard's lines ({known})", got=repr(name), known=", ".join(known))
    return name


def _head(item: TableText, lines: tuple[Line, ...], ground: Ground) -> Head:
    name = item.text("id")
    if item.has("topic") == item.has("line"):
        item.fail("topic", "{head}: a head has either `topic` (MQTT) or `line` and `unit` (Modbus)", head=name)
    wire: ModbusWire | MqttWire
    if item.has("topic"):
        wire = MqttWire(item.text("topic"))
    else:
        wire = ModbusWire(_line_name(item, lines), item.whole("unit", 1, 247))
    place = Place(
        item.number("x_m", 0, ground.east_m), item.number("y_m", 0, ground.north_m), item.number("height_m", 0, 10)
    )
    usual = Instrument(0.0)
    instrument = Instrument(
        t90_s=item.number("t90_s", 0, 300),
        warm_up_s=item.number("warm_up_s", 0, 3600, default=usual.warm_up_s),
        full_scale=item.number("full_scale", 1, 1000, default=usual.full_scale),
        refresh_s=item.number("renews_s", 0, 60, default=usual.refresh_s),
        drift_lel_pct_h=item.number("drift_lel_pct_h", -100, 100, default=usual.drift_lel_pct_h),
        catalytic=item.flag("catalytic"),
    )
    profile, settings = _profile(item, wire)
    item.done()
    return Head(name, place, instrument, wire, profile, settings)


def _profile(item: TableText, wire: ModbusWire | MqttWire) -> tuple[Profile, Mapping[str, object]]:
    """Return the head's profile, installed, and the keys that do so."""
    speaks = "modbus" if isinstance(wire, ModbusWire) else "mqtt"
    name, settings = OWN[speaks]
    if item.has("profile"):
        name = item.text("profile")
        if name not in profiles.names():
            item.fail(
                "profile", "there is no profile {got}{hint}", got=repr(name), hint=perhaps(name, profiles.names())
            )
        settings = item.table("settings").values if item.has("settings") else {}
    try:
        profile = profiles.load(name).installed(settings)
    except ProfileError as error:
        told = {"setting": error.key, "expected": error.expected, "got": error.got}
        item.fail("settings", "profile {name}: {setting}: must be {expected}, got {got}", name=repr(name), **told)
    if profile.wire != speaks:
        item.fail(
            "profile",
            "{got} speaks {wire}, and this head hangs on {speaks}",
            got=repr(name),
            wire=profile.wire,
            speaks=speaks,
        )
    if isinstance(wire, MqttWire) and isinstance(profile.points, PayloadPoints):
        try:
            profile.points.topics(wire.topic)
        except TopicError:
            template, got = repr(profile.points.topic), repr(wire.topic)
            item.fail("topic", "must fit the profile's {template}, got {got}", template=template, got=got)
    return profile, settings


def _address(head: Head) -> object:
    """Where it answers: heads of one unit differ by what they read there."""
    if isinstance(head.wire, MqttWire):
        return head.wire.topic if "channel" not in head.settings else (head.wire.topic, head.settings["channel"])
    own = (head.settings.get("channel"),) if "channel" in head.settings else ()
    return (head.wire.line, head.wire.unit, *own)
