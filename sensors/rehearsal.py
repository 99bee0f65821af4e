"""A profile tried without its device: registers or messages in, readings out. For people, fixtures and commands."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sensors.profiles import Profile
from sensors.readings import DetectorId, Reading
from sensors.stamps import Instant, Stamp, UtcNanos
from sensors.wire.documents import GarbledPayloadError
from sensors.wire.image import Image
from sensors.wire.listener import Listener, MqttPoints
from sensors.wire.meanings import Meaning
from sensors.wire.payload_points import PayloadPoints
from sensors.wire.places import Function, Place, Raw, Type
from sensors.wire.points import TOLD_BESIDE, ModbusPoints
from sensors.wire.registers import InstalledHead, plan
from sensors.wire.topics import CAPTURE
from sensors.wire.units import Basis
from sensors.wire.words import Stretch, raw_reader, text_reader

HEAD = DetectorId("head")
BEGUN = Stamp(Instant(1), UtcNanos(0))

Cell = int | float | str
"""One register or bit; or a float32 (two registers, high word first) or a text (two characters each) from there on."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message that a head publishes; an empty topic is its own."""

    payload: bytes
    topic: str = ""
    retained: bool = False


@dataclass(frozen=True, slots=True)
class Given:
    """What a device holds or says.

    Attributes:
        tables: registers and bits by wire address; what is not there is 0.
        messages: in their order.
        topic: the head's own; empty for one that fits its profile.
    """

    tables: Mapping[Function, Mapping[int, Cell]] = field(default_factory=dict)
    messages: Sequence[Message] = ()
    topic: str = ""
    unit: int = 1


def readings(profile: Profile, given: Given, basis: Basis) -> tuple[Reading, ...]:
    """Return what an installed profile makes of this; one reading for registers, any number for messages.

    Raises:
        TypeError: if the profile is not installed.
        ValueError: if registers are given that cannot be, or a topic that does not fit the profile.
    """
    match profile.points:
        case ModbusPoints() as points:
            return _of_registers(points, given, basis)
        case PayloadPoints() as points:
            return tuple(_of_messages(points, given, basis))
        case _:
            raise TypeError(f"profile {profile.id} is not installed")


def image_of(tables: Mapping[Function, Mapping[int, Cell]]) -> Image:
    """Return the image of these registers and bits.

    Raises:
        ValueError: if one of them fits no register.
    """
    image = Image()
    for function, cells in tables.items():
        image.cells.setdefault(function, {})
        for address, cell in cells.items():
            _put(image, function, address, cell)
    return image


def own_topic(points: PayloadPoints) -> str:
    """Return a topic that fits the profile's template."""
    return CAPTURE.sub(lambda match: match[1], points.topic.replace("[", "").replace("]", ""))


def _put(image: Image, function: Function, address: int, cell: Cell) -> None:
    if not 0 <= address <= 0xFFFF:
        raise ValueError(f"{address} is no wire address")
    if isinstance(cell, str):
        image.put_text(Place(function, address, Type.ASCII, length=(len(cell) + 1) // 2), cell)
    elif isinstance(cell, float):
        image.put(Place(function, address, Type.FLOAT32), cell)
    elif -0x8000 <= cell <= 0xFFFF and not (function.of_bits and cell not in (0, 1)):
        image.put(Place(function, address, Type.BOOL if function.of_bits else Type.UINT16), cell & 0xFFFF)
    else:
        raise ValueError(f"{cell} fits no {'bit' if function.of_bits else 'register'}")


def _of_registers(points: ModbusPoints, given: Given, basis: Basis) -> tuple[Reading, ...]:
    (block,) = plan(given.unit, [InstalledHead(HEAD, points, basis)])
    image = image_of(given.tables)
    reads = [Stretch(Function(ask.function), *struct.unpack(">HH", ask.tail[6:10])) for ask in block.asks]
    return block.readings(image.words(reads), 0, BEGUN)


def _of_messages(points: PayloadPoints, given: Given, basis: Basis) -> list[Reading]:
    topic = given.topic or own_topic(points)
    listener = Listener(MqttPoints(HEAD, topic, points, basis))
    found = []
    for message in given.messages:
        try:
            heard = listener.hear(message.topic or topic, message.payload, BEGUN, retained=message.retained)
        except GarbledPayloadError:
            heard = (listener.garbled(BEGUN),)
        found += [outcome for outcome in heard if isinstance(outcome, Reading)]
    return found


@dataclass(frozen=True, slots=True)
class Seen:
    """What stands at one place that a profile reads.

    Attributes:
        point: which, as the profile names it.
        means: the words it says; empty for a number.
        given: somebody said what stands there; else it counts as 0.
    """

    point: str
    function: Function
    register: int
    raw: Raw | str
    means: str = ""
    given: bool = True


def seen(points: ModbusPoints, given: Given) -> tuple[Seen, ...]:
    """Return what stands at each place that these points read.

    Raises:
        ValueError: if registers are given that cannot be.
    """
    image = image_of(given.tables)

    def told(place: Place) -> bool:
        function, first, count = place.span
        return any(first <= address < first + count for address in given.tables.get(function, ()))

    def at(point: str, place: Place, meaning: Meaning | None = None) -> Seen:
        reads = [Stretch(*place.span)]
        read = text_reader(place, reads) if place.type is Type.ASCII else raw_reader(place, reads)
        raw = read(image.words(reads), 0)
        means = "" if meaning is None else ", ".join(meaning.of(raw)) or "measuring"
        return Seen(point, place.function, place.register, raw, means, given=told(place))

    found = [at("value", points.place)]
    found += [at(f"states.{number}", state.place, state.meaning) for number, state in enumerate(points.states)]
    beside = {
        "unit_of_value": points.unit_of_value,
        "scale": points.scale,
        "full_scale": points.full_scale,
        "sign": points.sign,
        "identity": points.identity,
        "heartbeat": points.heartbeat,
    }
    found += [at(name, point.place) for name, point in beside.items() if isinstance(point, TOLD_BESIDE)]
    places = {"decimals": points.decimals, "divisor": points.divisor, "echoes_unit": points.echoes_unit}
    return (*found, *(at(name, place) for name, place in places.items() if isinstance(place, Place)))


def unread(points: ModbusPoints, given: Given) -> tuple[int, ...]:
    """Return the addresses that were given and that these points read in no table."""
    spans = [place.span for place in points.places()]
    said = {address for cells in given.tables.values() for address in cells}
    read = {
        address
        for function, cells in given.tables.items()
        for address in cells
        if any(table is function and first <= address < first + count for table, first, count in spans)
    }
    return tuple(sorted(said - read))
