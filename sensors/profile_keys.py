"""The keys that describe a device's points, in a profile file or an installation: checked, then made into points."""

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Final, TypeVar

from sensors.readings import Status
from sensors.wire.payloads import PayloadPoints
from sensors.wire.payloads import StatusPoint as PayloadStatus
from sensors.wire.points import (
    Function,
    IdentityPoint,
    ModbusPoints,
    Raw,
    StatusPoint,
    Type,
    UnitOfValue,
    UnitPoint,
    WordOrder,
)

Table = Mapping[str, object]
AnyEnum = TypeVar("AnyEnum", bound=Enum)


class KeyFault(Exception):  # noqa: N818 - it is caught at once and becomes a ProfileError, which has the file
    """One key is wrong: which, what would be right, what stands there."""

    def __init__(self, key: str, expected: str, got: object) -> None:
        super().__init__(key, expected, got)
        self.key, self.expected = key, expected
        self.got = got if isinstance(got, str) and got in (NOTHING, ABSENT) else shown(got)


NOTHING: Final = "nothing"
ABSENT: Final = "no such key"
SHOWN_CHARS: Final = 60

STATUSES: Final = {
    "measuring": Status.MEASURING,
    "warm_up": Status.WARM_UP,
    "inhibited": Status.INHIBITED,
    "calibrating": Status.CALIBRATING,
    "fault": Status.FAULT,
    "over_range": Status.OVER_RANGE,
    "under_range": Status.UNDER_RANGE,
}
ALARM: Final = "alarm"
"""The word for bits by which a device says "gas" itself."""


def shown(value: object) -> str:
    """Write a value from a file for a message, at a bounded length."""
    text = repr(value)
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"


def one_of(names: Iterable[str], got: str = "") -> str:
    """List what would be right, nearest first when one is near."""
    known = list(names)
    near = difflib.get_close_matches(got, known, n=1, cutoff=0.6)
    return f"{near[0]!r}" if near else "one of " + ", ".join(known)


# --- checks: each takes (key, value) and returns the value as the points want it, or raises KeyFault


def _number(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise KeyFault(key, "a number", value)
    return float(value)


def _positive(key: str, value: object) -> float:
    number = _number(key, value)
    if number <= 0:
        raise KeyFault(key, "a number above 0", value)
    return number


def _not_negative(key: str, value: object) -> float:
    number = _number(key, value)
    if number < 0:
        raise KeyFault(key, "a number from 0 up", value)
    return number


def _factor(key: str, value: object) -> float:
    number = _number(key, value)
    if number == 0:
        raise KeyFault(key, "a number other than 0", value)
    return number


def _whole(low: int, high: int, what: str) -> Callable[[str, object], int]:
    def check(key: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise KeyFault(key, what, value)
        return value

    return check


_register = _whole(0, 0xFFFF, "a wire address, 0 to 65535")
_word = _whole(0, 0xFFFF, "a register value, 0 to 65535")
_bit = _whole(0, 15, "a bit number, 0 to 15")


def _text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise KeyFault(key, "a text", value)
    return value


def _choice(names: Mapping[str, AnyEnum]) -> Callable[[str, object], AnyEnum]:
    def check(key: str, value: object) -> AnyEnum:
        if not isinstance(value, str) or value not in names:
            raise KeyFault(key, one_of(names, value if isinstance(value, str) else ""), value)
        return names[value]

    return check


_function = _choice({"holding": Function.HOLDING, "input": Function.INPUT})
_type = _choice({each.value: each for each in Type})
_word_order = _choice({each.value: each for each in WordOrder})
_unit_name = _choice({each.value: each for each in UnitOfValue})
_status = _choice(STATUSES)


def _table(key: str, value: object) -> Table:
    if not isinstance(value, Mapping):
        raise KeyFault(key, "a table", value)
    return value


def _list(key: str, value: object) -> list[object]:
    if not isinstance(value, list | tuple):
        raise KeyFault(key, "a list", value)
    return list(value)


def _only(key: str, table: Table, known: Iterable[str]) -> None:
    names = list(known)
    for name in table:
        if name not in names:
            raise KeyFault(f"{key}.{name}", one_of(names, name), ABSENT)


def _take(key: str, table: Table, name: str, check: Callable[[str, object], Any]) -> Any:  # noqa: ANN401 - of the check
    if name not in table:
        raise KeyFault(f"{key}.{name}", "a value", NOTHING)
    return check(f"{key}.{name}", table[name])


def _sentinels(key: str, value: object) -> tuple[tuple[Raw, Status], ...]:
    """``{fault = [raw, ...], over_range = [...]}``; a raw value stands for one status only."""
    table = _table(key, value)
    _only(key, table, [name for name in STATUSES if name != "measuring"])
    found: dict[Raw, Status] = {}
    for name, raws in table.items():
        for raw in _list(f"{key}.{name}", raws):
            number = _number(f"{key}.{name}", raw)
            if number in found:
                raise KeyFault(f"{key}.{name}", "each raw value once", raw)
            found[int(number) if number.is_integer() else number] = STATUSES[name]
    return tuple(found.items())


def _bits(key: str, value: object) -> tuple[tuple[tuple[Status, int], ...], int]:
    """``{fault = [bit, ...], alarm = [...]}`` -> (status, mask) pairs and the alarm mask; bit 0 is the lowest."""
    table = _table(key, value)
    _only(key, table, [name for name in (*STATUSES, ALARM) if name != "measuring"])
    masks = dict.fromkeys(table, 0)
    for name, bits in table.items():
        for bit in _list(f"{key}.{name}", bits):
            masks[name] |= 1 << _bit(f"{key}.{name}", bit)
    alarm = masks.pop(ALARM, 0)
    return tuple((STATUSES[name], mask) for name, mask in masks.items()), alarm


def _codes(key: str, value: object) -> tuple[tuple[int, int, Status], ...]:
    """``[{at = 1, means = "measuring"}, {from = 1100, to = 1199, means = "fault"}]``."""
    ranges: list[tuple[int, int, Status]] = []
    for index, item in enumerate(_list(key, value)):
        place = f"{key}.{index}"
        table = _table(place, item)
        _only(place, table, ("at", "from", "to", "means"))
        single = "at" in table
        low = _take(place, table, "at" if single else "from", _word)
        high = low if single else _take(place, table, "to", _word)
        ranges.append((low, high, _take(place, table, "means", _status)))
    return tuple(ranges)


def _states(key: str, value: object) -> tuple[StatusPoint, ...]:
    """A list of status registers, each ``{register, function, bits | codes}``."""
    points: list[StatusPoint] = []
    for index, item in enumerate(_list(key, value)):
        place = f"{key}.{index}"
        table = _table(place, item)
        _only(place, table, ("register", "function", "bits", "codes"))
        bits, alarm = _bits(f"{place}.bits", table.get("bits", {}))
        points.append(
            StatusPoint(
                function=_function(f"{place}.function", table.get("function", "holding")),
                register=_take(place, table, "register", _register),
                bits=bits,
                alarm_mask=alarm,
                codes=_codes(f"{place}.codes", table.get("codes", ())),
            )
        )
    return tuple(points)


def _unit(key: str, value: object) -> UnitOfValue | UnitPoint:
    """A unit's name, or ``{register, function, codes = [{at = 5, means = "lel_pct"}]}`` where a register tells it."""
    if not isinstance(value, Mapping):
        return _unit_name(key, value)
    _only(key, value, ("register", "function", "codes"))
    codes: list[tuple[int, UnitOfValue]] = []
    for index, item in enumerate(_list(f"{key}.codes", value.get("codes", ()))):
        place = f"{key}.codes.{index}"
        table = _table(place, item)
        codes.append((_take(place, table, "at", _word), _take(place, table, "means", _unit_name)))
    function = _function(f"{key}.function", value.get("function", "holding"))
    return UnitPoint(function, _take(key, value, "register", _register), tuple(codes))


def _identity(key: str, value: object) -> IdentityPoint:
    """``{register, function, mask, equals}``."""
    table = _table(key, value)
    _only(key, table, ("register", "function", "mask", "equals"))
    return IdentityPoint(
        function=_function(f"{key}.function", table.get("function", "holding")),
        register=_take(key, table, "register", _register),
        mask=_word(f"{key}.mask", table.get("mask", 0xFFFF)),
        equals=_take(key, table, "equals", _word),
    )


def _payload_states(key: str, value: object) -> tuple[PayloadStatus, ...]:
    """A list of ``{pointer, words = {ok = "measuring"}, otherwise = "fault"}``."""
    points: list[PayloadStatus] = []
    for index, item in enumerate(_list(key, value)):
        place = f"{key}.{index}"
        table = _table(place, item)
        _only(place, table, ("pointer", "words", "otherwise"))
        words = _table(f"{place}.words", table.get("words", {}))
        points.append(
            PayloadStatus(
                pointer=_take(place, table, "pointer", _text),
                words=tuple((word, _status(f"{place}.words.{word}", said)) for word, said in words.items()),
                otherwise=_status(f"{place}.otherwise", table.get("otherwise", "fault")),
            )
        )
    return tuple(points)


SHARED_KEYS: Final[dict[str, Callable[[str, object], object]]] = {
    "scale": _factor,
    "offset": _number,
    "full_scale": _positive,
    "zero_drift": _not_negative,
    "trip": _positive,
}
MODBUS_KEYS: Final[dict[str, Callable[[str, object], object]]] = {
    "register": _register,
    "function": _function,
    "type": _type,
    "word_order": _word_order,
    **SHARED_KEYS,
    "unit_of_value": _unit,
    "sentinels": _sentinels,
    "states": _states,
    "identity": _identity,
    "status_register": _register,
    "status_function": _function,
    "bits": _bits,
}
PAYLOAD_KEYS: Final[dict[str, Callable[[str, object], object]]] = {
    "value": _text,
    **SHARED_KEYS,
    "unit_of_value": _unit_name,
    "states": _payload_states,
    "sequence": _text,
}


def modbus_points(table: Table) -> ModbusPoints:
    """Make the points of a Modbus head from its keys, all of which are known by name.

    Raises:
        KeyFault: for the first key that is wrong, missing, or contradicts another.
    """
    found: dict[str, Any] = {name: MODBUS_KEYS[name](name, value) for name, value in table.items()}
    if "register" not in found:
        raise KeyFault("register", "the wire address of the value", NOTHING)
    found.setdefault("function", Function.HOLDING)
    status, function = found.pop("status_register", None), found.pop("status_function", found["function"])
    bits, alarm = found.pop("bits", ((), 0))
    if status is None and (bits or alarm):
        raise KeyFault("status_register", "the register that holds the bits", NOTHING)
    if status is not None:
        if not bits and not alarm:
            raise KeyFault("bits", "what the bits of status_register mean", NOTHING)
        found["states"] = (*found.get("states", ()), StatusPoint(function, status, bits, alarm))
    points = ModbusPoints(**found)
    if points.register + points.type.words > 0x10000:
        raise KeyFault("register", "room for two registers below 65536", points.register)
    for raw, _ in points.sentinels:
        if not _can_be_sent(points.type, raw):
            raise KeyFault("sentinels", f"raw values that {points.type.value} can hold", raw)
    return points


def payload_points(table: Table) -> PayloadPoints:
    """Make the points of a JSON head from its keys, all of which are known by name.

    Raises:
        KeyFault: for the first key that is wrong or missing.
    """
    found: dict[str, Any] = {name: PAYLOAD_KEYS[name](name, value) for name, value in table.items()}
    if "value" not in found:
        raise KeyFault("value", "the JSON pointer of the value, such as '/lel'", NOTHING)
    try:
        return PayloadPoints(**found)
    except ValueError as error:
        raise KeyFault("value", f"pointers and numbers that fit ({error})", found["value"]) from None


def _can_be_sent(kind: Type, raw: Raw) -> bool:
    match kind:
        case Type.INT16:
            return -0x8000 <= raw <= 0x7FFF and isinstance(raw, int)
        case Type.UINT16:
            return 0 <= raw <= 0xFFFF and isinstance(raw, int)
        case Type.INT32:
            return -0x8000_0000 <= raw <= 0x7FFF_FFFF and isinstance(raw, int)
        case Type.UINT32:
            return 0 <= raw <= 0xFFFF_FFFF and isinstance(raw, int)
        case Type.FLOAT32:
            return True
