"""Keys that mean the same on both wires: channels, meanings, codes, scale, sentinels, and the head behind an input."""

import math
from typing import Any, Final

from sensors.profiles.shapes import ABSENT, NOTHING, KeyFault, Table, shown
from sensors.sentences import Sentence
from sensors.wire.meanings import Meaning
from sensors.wire.places import Raw
from sensors.wire.points import AnalogueHead
from sensors.wire.units import UnitOfValue

NEEDS_HEAD: Final = (UnitOfValue.MILLIAMP, UnitOfValue.RANGE_PCT)


def inside(key: str, name: str) -> str:
    """Return the dotted key of a name inside a table."""
    return f"{key}.{name}" if key else name


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
        raise KeyFault(
            "channel", Sentence("the head's channel, {first} to {last}", first=first, last=first + count - 1), NOTHING
        )
    if isinstance(channel, dict):
        if set(channel) != set(axes) or not axes:
            names = ", ".join(axes) or "a number, since this device counts its channels in one row"
            raise KeyFault("channel", names, shown(channel))
        index = sum((channel[name] - 1) * step for name, step in axes.items())
    else:
        index = channel - first
    if not 0 <= index < count:
        raise KeyFault(
            "channel", Sentence("a channel from {first} to {last}", first=first, last=first + count - 1), channel
        )
    return int(index)


def meaning_of(key: str, table: Table) -> Meaning:
    """Return what the values of a state mean.

    Raises:
        KeyFault: if nothing is said of it.
    """
    codes = ranges(inside(key, "codes"), table.get("codes", ()))
    words = tuple(table.get("words", {}).items())
    otherwise = table.get("otherwise", "fault" if codes or words else "")
    found = Meaning(_masks(table.get("bits", {})), _masks(table.get("clear_bits", {})), codes, words, otherwise)
    if not (found.bits or found.clear_bits or codes or words or otherwise):
        raise KeyFault(inside(key, "bits"), "what its values mean: bits, clear_bits, codes or words", NOTHING)
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
            raise KeyFault(
                "head.fault_below_ma",
                Sentence("at most {low}, the lower end of the range", low=f"{milliamp[0]:g}"),
                below,
            )
        found.append((-math.inf, math.nextafter(below, -math.inf), "fault"))
    if above is not None:
        found.append((math.nextafter(above, math.inf), math.inf, "fault"))
    if over < milliamp[1]:
        raise KeyFault(
            "head.over_range_above_ma",
            Sentence("at least {high}, the upper end of the range", high=f"{milliamp[1]:g}"),
            over,
        )
    found.append((math.nextafter(over, math.inf), math.inf, "over_range"))
    return tuple(found)
