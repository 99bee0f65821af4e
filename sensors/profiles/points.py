"""From the keys of ``[points]`` to the points of a Modbus device: keys checked, addresses and channels worked out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sensors.profiles.keys import MODBUS_KEYS
from sensors.profiles.shapes import NOTHING, KeyFault, Table
from sensors.profiles.shared import (
    channel_index,
    head_of,
    inside,
    meaning_of,
    ranges,
    scale_and_offset,
    sentinels_of,
)
from sensors.sentences import Sentence
from sensors.wire.places import Function, Part, Place, Raw, Type, WordOrder
from sensors.wire.points import (
    FullScalePoint,
    HeartbeatPoint,
    IdentityPoint,
    ModbusPoints,
    ReadLimits,
    ScalePoint,
    SignPoint,
    StatePoint,
    UnitPoint,
)
from sensors.wire.units import UnitOfValue

MAX_ADDRESS: Final = 0xFFFF


@dataclass(frozen=True, slots=True)
class Site:
    """What every place of one installed head has in common.

    Attributes:
        index: the head's channel, counted from 0.
        stride: registers from one channel to the next, where a place does not say.
        shift: what the site adds to every address.
    """

    function: Function = Function.HOLDING
    base: int | None = None
    index: int = 0
    stride: int = 0
    shift: int = 0
    limits: ReadLimits = field(default_factory=ReadLimits)


def modbus_points(table: Mapping[str, object], limits: ReadLimits | None = None) -> ModbusPoints:
    """Make the points of a Modbus head from its keys, all of which are known by name.

    Raises:
        KeyFault: for the first key that is wrong, missing, or contradicts another.
    """
    found: dict[str, Any] = {name: MODBUS_KEYS[name].check(name, value) for name, value in table.items()}
    site = site_of(found, limits)
    if "register" not in found and "address" not in found:
        raise KeyFault("register", "the wire address of the value (or `address`, as printed)", NOTHING)
    # A lone number is signed unless told otherwise, so that a slightly negative zero is no huge value.
    kind = Type.BOOL if site.function.of_bits else Type.INT16
    place = place_of("", found, site, kind)
    unit = _unit(found.get("unit_of_value", UnitOfValue.LEL_PCT), site, place)
    scale, offset = scale_and_offset(found)
    points = ModbusPoints(
        function=place.function,
        register=place.register,
        type=place.type,
        word_order=place.word_order,
        part=place.part,
        at_byte=place.at_byte,
        scale=_scale(scale, site, place),
        offset=offset,
        decimals=_decimals(found.get("decimals", 0), site, place),
        divisor=_sub("divisor", found, site, place),
        sign=_sign(found.get("sign"), site, place),
        unit_of_value=unit,
        full_scale=_full_scale(found.get("full_scale"), site, place),
        zero_drift=found.get("zero_drift"),
        trip=found.get("trip"),
        trips=tuple(found.get("trips", {}).items()),
        sentinels=sentinels_of(found),
        states=(*_states(found.get("states", ()), site, place), *_status_register(found, site)),
        identity=_identity(found.get("identity"), site, place),
        echoes_unit=_sub("echoes_unit", found, site, place),
        heartbeat=_heartbeat(found.get("heartbeat"), site, place),
        precedence=found.get("precedence", ()),
        head=head_of(found, unit),
        frozen_after_s=found.get("frozen_after_s"),
        drift_warning=found.get("drift_warning"),
        limits=site.limits,
    )
    for low, high, _ in points.sentinels:
        for raw in (low, high):
            if not _can_be_sent(points.place, raw):
                raise KeyFault("sentinels", Sentence("raw values that {type} can hold", type=points.type.value), raw)
    return points


def site_of(found: Table, limits: ReadLimits | None = None) -> Site:
    """Return what the places of this table have in common, its channel worked out."""
    channels = found.get("channels")
    return Site(
        function=found.get("function", Function.HOLDING),
        base=found.get("base"),
        index=channel_index(found),
        stride=channels.get("stride", 0) if channels else 0,
        shift=found.get("address_offset", 0),
        limits=limits or ReadLimits(),
    )


def place_of(key: str, table: Table, site: Site, kind: Type, own: Place | None = None) -> Place:
    """Return where a raw value sits. Without an address of its own it is where `own` is.

    Raises:
        KeyFault: if the address is missing, said twice, without a base, or outside the device.
    """
    function = table.get("function", own.function if own else site.function)
    register = _address(key, table, site, own)
    index = site.index
    stride = table.get("stride", site.stride)
    if own is None or "register" in table or "address" in table:
        register += stride * index
    kind = table.get("type", kind)
    part = _part(key, table, index)
    place = Place(
        function=function,
        register=register,
        type=kind,
        word_order=table.get("word_order", WordOrder.ABCD),
        part=part,
        at_byte=table.get("at_byte", 0),
        length=table.get("length", 1),
    )
    _, start, size = place.span
    if not 0 <= start <= MAX_ADDRESS + 1 - size:
        room = (
            "room for two registers below 65536"
            if size == 2
            else Sentence("{size} addresses from 0 to 65535", size=size)
        )
        raise KeyFault(inside(key, "address" if "address" in table else "register"), room, start)
    if part is not None and (kind is Type.ASCII or kind.value.startswith("float")):
        raise KeyFault(inside(key, "field"), "a whole-number type", kind.value)
    return place


def _address(key: str, table: Table, site: Site, own: Place | None) -> int:
    if "register" in table and "address" in table:
        raise KeyFault(inside(key, "address"), "either `register` or `address`", table["address"])
    if "register" in table:
        return int(table["register"]) + site.shift
    if "address" in table:
        base = table.get("base", site.base)
        if base is None:
            raise KeyFault(
                inside(key, "base"), "the printed address that is wire address 0: 40001, 30001, 1 or 0", NOTHING
            )
        return int(table["address"]) - int(base) + site.shift
    if own is None:
        raise KeyFault(inside(key, "register"), "a wire address (or `address`, as printed)", NOTHING)
    return own.register


def _part(key: str, table: Table, index: int) -> Part | None:
    if "field" in table and "byte" in table:
        raise KeyFault(inside(key, "byte"), "either `field` or `byte`", table["byte"])
    shift = table.get("bit_stride", 0) * index
    if "byte" in table:
        return Part(8 if table["byte"] == "high" else 0, 8)
    if "field" not in table:
        return Part(shift, 32 - shift) if shift else None
    low, high = table["field"]
    if low > high:
        raise KeyFault(inside(key, "field"), "the lower bit first: [low, high]", list(table["field"]))
    return Part(low + shift, high - low + 1)


# --- what stands beside the value


def _sub(name: str, found: Table, site: Site, own: Place) -> Place | None:
    table = found.get(name)
    return None if table is None else place_of(name, table, site, Type.UINT16, own)


def _decimals(said: int | Table, site: Site, own: Place) -> int | Place:
    return said if isinstance(said, int) else place_of("decimals", said, site, Type.UINT16, own)


def _scale(said: float | Table, site: Site, own: Place) -> float | ScalePoint:
    if isinstance(said, float):
        return said
    return ScalePoint(place_of("scale", said, site, Type.UINT16, own), ranges("scale.codes", said["codes"]))


def _full_scale(said: float | Table | None, site: Site, own: Place) -> float | FullScalePoint | None:
    if said is None or isinstance(said, float):
        return said
    return FullScalePoint(place_of("full_scale", said, site, Type.UINT16, own), said.get("scale", 1.0))


def _sign(said: Table | None, site: Site, own: Place) -> SignPoint | None:
    if said is None:
        return None
    return SignPoint(place_of("sign", said, site, Type.UINT16, own), said.get("negative", (1,)))


def _unit(said: UnitOfValue | Table, site: Site, own: Place) -> UnitOfValue | UnitPoint:
    if isinstance(said, UnitOfValue):
        return said
    kind = Type.ASCII if "words" in said else Type.UINT16
    place = place_of("unit_of_value", said, site, kind, own)
    return UnitPoint(place, ranges("unit_of_value.codes", said.get("codes", ())), tuple(said.get("words", {}).items()))


def _identity(said: Table | None, site: Site, own: Place) -> IdentityPoint | None:
    if said is None:
        return None
    texts, equals = said.get("text", ()), said.get("equals", ())
    if bool(texts) == bool(equals):
        raise KeyFault("identity.equals", "the number (or `text`) that this model shows", NOTHING)
    place = place_of("identity", said, site, Type.ASCII if texts else Type.UINT16, own)
    return IdentityPoint(place, said.get("mask", 0xFFFF_FFFF), equals, texts)


def _heartbeat(said: Table | None, site: Site, own: Place) -> HeartbeatPoint | None:
    if said is None:
        return None
    place = place_of("heartbeat", said, site, Type.UINT16, own)
    return HeartbeatPoint(place, said["period_s"], said.get("missed", 2))


def _states(said: tuple[Table, ...], site: Site, own: Place) -> tuple[StatePoint, ...]:
    found = []
    for index, table in enumerate(said):
        key = f"states.{index}"
        function = table.get("function", site.function)
        kind = Type.BOOL if function.of_bits else Type.UINT16
        if "words" in table:
            kind = Type.ASCII
        place = place_of(key, table, replace(site, function=function), kind, None if _has_address(table) else own)
        _bits_fit(key, table, place)
        found.append(StatePoint(place, meaning_of(key, table), table.get("gate", False)))
    return tuple(found)


def _bits_fit(key: str, table: Table, place: Place) -> None:
    width = place.part.width if place.part else place.type.bits
    for name in ("bits", "clear_bits"):
        for word, bits in table.get(name, {}).items():
            for bit in bits:
                if bit >= width:
                    raise KeyFault(
                        inside(key, f"{name}.{word}"), Sentence("a bit number, 0 to {last}", last=width - 1), bit
                    )


def _has_address(table: Table) -> bool:
    return "register" in table or "address" in table


def _status_register(found: Table, site: Site) -> tuple[StatePoint, ...]:
    """Return the one status register of a generic device: `status_register` with `bits`."""
    register, bits = found.get("status_register"), found.get("bits", {})
    if register is None:
        if bits:
            raise KeyFault("status_register", "the register that holds the bits", NOTHING)
        return ()
    if not bits:
        raise KeyFault("bits", "what the bits of status_register mean", NOTHING)
    function = found.get("status_function", site.function)
    place = Place(function, register + site.shift, Type.UINT16)
    _bits_fit("", found, place)
    return (StatePoint(place, meaning_of("", {"bits": bits})),)


def _can_be_sent(place: Place, raw: Raw) -> bool:
    kind = place.type.value
    if kind.startswith("float"):
        return True
    bits = place.part.width if place.part else place.type.bits
    signed = kind.startswith("int") and place.part is None
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return isinstance(raw, int) and low <= raw <= high
