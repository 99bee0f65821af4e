"""From the keys of ``[points]`` to the points of a Modbus device: keys checked, addresses and channels worked out."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sensors.profile_keys import MODBUS_KEYS
from sensors.profile_shapes import ABSENT, NOTHING, KeyFault, Table, shown
from sensors.wire.meanings import Meaning
from sensors.wire.points import (
    AnalogueHead,
    FullScalePoint,
    Function,
    HeartbeatPoint,
    IdentityPoint,
    ModbusPoints,
    Part,
    Place,
    Raw,
    ReadLimits,
    ScalePoint,
    SignPoint,
    StatePoint,
    Type,
    UnitOfValue,
    UnitPoint,
    WordOrder,
)

NEEDS_HEAD: Final = (UnitOfValue.MILLIAMP, UnitOfValue.RANGE_PCT)
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
                raise KeyFault("sentinels", f"raw values that {points.type.value} can hold", raw)
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


def channel_index(found: Table) -> int:
    """Return the channel counted from 0: given as one number, or by the axes that the profile names.

    Raises:
        KeyFault: if the device has channels and none is given, or one that it does not have.
    """
    channels, channel = found.get("channels"), found.get("channel")
    if channels is None:
        if channel is not None:
            raise KeyFault("channel", "no channel: this device has one head", ABSENT)
        return 0
    first, count, axes = channels.get("first", 1), channels["count"], channels.get("axes", {})
    if channel is None:
        raise KeyFault("channel", f"the head's channel, {first} to {first + count - 1}", NOTHING)
    if isinstance(channel, dict):
        if set(channel) != set(axes) or not axes:
            names = ", ".join(axes) or "a number, since this device counts its channels in one row"
            raise KeyFault("channel", names, shown(channel))
        index = sum((channel[name] - 1) * step for name, step in axes.items())
    else:
        index = channel - first
    if not 0 <= index < count:
        raise KeyFault("channel", f"a channel from {first} to {first + count - 1}", channel)
    return int(index)


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
        room = "room for two registers below 65536" if size == 2 else f"{size} addresses from 0 to 65535"
        raise KeyFault(_name(key, "address" if "address" in table else "register"), room, start)
    if part is not None and (kind is Type.ASCII or kind.value.startswith("float")):
        raise KeyFault(_name(key, "field"), "a whole-number type", kind.value)
    return place


def _address(key: str, table: Table, site: Site, own: Place | None) -> int:
    if "register" in table and "address" in table:
        raise KeyFault(_name(key, "address"), "either `register` or `address`", table["address"])
    if "register" in table:
        return int(table["register"]) + site.shift
    if "address" in table:
        base = table.get("base", site.base)
        if base is None:
            raise KeyFault(
                _name(key, "base"), "the printed address that is wire address 0: 40001, 30001, 1 or 0", NOTHING
            )
        return int(table["address"]) - int(base) + site.shift
    if own is None:
        raise KeyFault(_name(key, "register"), "a wire address (or `address`, as printed)", NOTHING)
    return own.register


def _part(key: str, table: Table, index: int) -> Part | None:
    if "field" in table and "byte" in table:
        raise KeyFault(_name(key, "byte"), "either `field` or `byte`", table["byte"])
    shift = table.get("bit_stride", 0) * index
    if "byte" in table:
        return Part(8 if table["byte"] == "high" else 0, 8)
    if "field" not in table:
        return Part(shift, 32 - shift) if shift else None
    low, high = table["field"]
    if low > high:
        raise KeyFault(_name(key, "field"), "the lower bit first: [low, high]", list(table["field"]))
    return Part(low + shift, high - low + 1)


def _name(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


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
                    raise KeyFault(_name(key, f"{name}.{word}"), f"a bit number, 0 to {width - 1}", bit)


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


# --- what both wires share


def meaning_of(key: str, table: Table) -> Meaning:
    """Return what the values of a state mean.

    Raises:
        KeyFault: if nothing is said of it.
    """
    codes = ranges(_name(key, "codes"), table.get("codes", ()))
    words = tuple(table.get("words", {}).items())
    otherwise = table.get("otherwise", "fault" if codes or words else "")
    found = Meaning(_masks(table.get("bits", {})), _masks(table.get("clear_bits", {})), codes, words, otherwise)
    if not (found.bits or found.clear_bits or codes or words or otherwise):
        raise KeyFault(_name(key, "bits"), "what its values mean: bits, clear_bits, codes or words", NOTHING)
    return found


def _masks(said: Table) -> tuple[tuple[str, int], ...]:
    return tuple((word, sum(1 << bit for bit in set(bits))) for word, bits in said.items())


def ranges(key: str, said: tuple[Table, ...]) -> tuple[tuple[int, int, Any], ...]:
    """Return (low, high, meaning) of ``{at, means}`` and ``{from, to, means}``.

    Raises:
        KeyFault: if a code says neither, or both.
    """
    found = []
    for index, table in enumerate(said):
        if "at" in table:
            if "from" in table or "to" in table:
                raise KeyFault(f"{key}.{index}.at", "either `at`, or `from` and `to`", table["at"])
            low = high = table["at"]
        else:
            for name in ("from", "to"):
                if name not in table:
                    raise KeyFault(f"{key}.{index}.{name}", "a value (or `at`)", NOTHING)
            low, high = table["from"], table["to"]
        if low > high:
            raise KeyFault(f"{key}.{index}.from", "the lower code first", low)
        found.append((low, high, table["means"]))
    return tuple(found)


def scale_and_offset(found: Table) -> tuple[float | Any, float]:
    """Return the scale (maybe a table) and the offset, worked out of two points where those are given.

    Raises:
        KeyFault: if both ways are used, or the two points are one.
    """
    if "two_point" not in found:
        return found.get("scale", 1.0), found.get("offset", 0.0)
    if "scale" in found or "offset" in found:
        raise KeyFault("two_point", "either `two_point`, or `scale` and `offset`", list(found["two_point"]))
    (raw1, value1), (raw2, value2) = found["two_point"]
    if raw1 == raw2 or value1 == value2:
        raise KeyFault("two_point", "two different points: [[raw, value], [raw, value]]", list(found["two_point"]))
    scale = (value2 - value1) / (raw2 - raw1)
    return scale, value1 - scale * raw1


def sentinels_of(found: Table) -> tuple[tuple[Raw, Raw, str], ...]:
    """Return (from, to, word); a raw value stands for one word only.

    Raises:
        KeyFault: if ranges overlap or are upside down.
    """
    result: list[tuple[Raw, Raw, str]] = []
    for word, items in found.get("sentinels", {}).items():
        for item in items:
            low, high = (item["from"], item["to"]) if isinstance(item, dict) else (item, item)
            if low > high:
                raise KeyFault(f"sentinels.{word}", "the lower raw value first", low)
            if any(low <= other_high and other_low <= high for other_low, other_high, _ in result):
                raise KeyFault(f"sentinels.{word}", "each raw value once", low)
            result.append((low, high, word))
    return tuple(result)


def head_of(found: Table, unit: object) -> AnalogueHead | None:
    """Return the analogue head behind an input; None for a device that tells its own unit.

    Raises:
        KeyFault: if there is a head and no input for it, or the other way round, or its ranges are no ranges.
    """
    head = found.get("head")
    if unit not in NEEDS_HEAD:
        if head is not None:
            raise KeyFault("head", "no head: this device tells its gas itself", ABSENT)
        return None
    if head is None:
        raise KeyFault("head", "the head behind it: { milliamp = [4, 20], range_lel_pct = [0, 100] }", NOTHING)
    spans = {name: head[name] for name in ("range_lel_pct", "range_ppm", "range_vol_pct") if name in head}
    if len(spans) != 1:
        raise KeyFault("head.range_lel_pct", "one range: range_lel_pct, range_ppm or range_vol_pct", len(spans))
    name, (low, high) = next(iter(spans.items()))
    milliamp = head.get("milliamp", (4.0, 20.0)) if unit is UnitOfValue.MILLIAMP else None
    for place, pair in ((f"head.{name}", (low, high)), ("head.milliamp", milliamp)):
        if pair is not None and not pair[0] < pair[1]:
            raise KeyFault(place, "the lower end first: [low, high]", list(pair))
    return AnalogueHead(UnitOfValue(name.removeprefix("range_")), low, high, milliamp, _bands(head, milliamp))


def _bands(head: Table, milliamp: tuple[float, float] | None) -> tuple[tuple[float, float, str], ...]:
    found = [(band["from"], band["to"], band["means"]) for band in head.get("bands", ())]
    if milliamp is None:
        return tuple(found)
    live_zero = milliamp[0] > 0
    below = head.get("fault_below_ma", 3.0 if live_zero else None)
    above, over = head.get("fault_above_ma"), head.get("over_range_above_ma", milliamp[1] * 1.025)
    if below is not None:
        if below > milliamp[0]:
            raise KeyFault("head.fault_below_ma", f"at most {milliamp[0]:g}, the lower end of the range", below)
        found.append((-math.inf, math.nextafter(below, -math.inf), "fault"))
    if above is not None:
        found.append((math.nextafter(above, math.inf), math.inf, "fault"))
    if over < milliamp[1]:
        raise KeyFault("head.over_range_above_ma", f"at least {milliamp[1]:g}, the upper end of the range", over)
    found.append((math.nextafter(over, math.inf), math.inf, "over_range"))
    return tuple(found)


def _can_be_sent(place: Place, raw: Raw) -> bool:
    kind = place.type.value
    if kind.startswith("float"):
        return True
    bits = place.part.width if place.part else place.type.bits
    signed = kind.startswith("int") and place.part is None
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return isinstance(raw, int) and low <= raw <= high
