"""Every measure of a shipped Modbus profile, backwards and forwards: weights, charges, contacts."""

import pytest

from sensors import profiles
from sensors.profiles import NEUTRAL, Profile
from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.stamps import Instant, Stamp, UtcNanos
from sensors.wire.meanings import SAYINGS
from sensors.wire.places import Function, Type
from sensors.wire.points import ModbusPoints
from sensors.wire.registers import InstalledHead, plan
from sensors.wire.words import Stretch
from simulator.sayings import Wanted, sayable
from simulator.spoken_registers import registers

NOW = Stamp(Instant(1_000_000_000), UtcNanos(0))


def measures() -> list[tuple[str, str, int | None]]:
    """Each measure once; one with channels on its first and its last."""
    found: list[tuple[str, str, int | None]] = []
    for name in profiles.names():
        profile = profiles.load(name)
        if profile.wire != "modbus":
            continue
        for part in profile.parts("measures"):
            channels = profile.document["measures"][part].get("channels")
            if channels is None:
                found.append((name, part, None))
                continue
            first = channels.get("first", 1)
            found += [(name, part, channel) for channel in (first, first + channels["count"] - 1)]
    return found


def points_of(profile: Profile, part: str, channel: int | None) -> ModbusPoints:
    points = profile.measure(part, channel)
    assert isinstance(points, ModbusPoints)
    return points


def shown(points: ModbusPoints, wanted: Wanted) -> Reading:
    (block,) = plan(1, [InstalledHead(DetectorId("M"), points, NEUTRAL)])
    reads = [
        Stretch(Function(ask.function), int.from_bytes(ask.tail[6:8], "big"), int.from_bytes(ask.tail[8:10], "big"))
        for ask in block.asks
    ]
    (reading,) = block.readings(registers(points, NEUTRAL, wanted).words(reads), 0, NOW)
    return reading


@pytest.mark.parametrize(("name", "part", "channel"), measures())
def test_every_shipped_measure_reads_the_number_that_was_written_through_it(name, part, channel):
    points = points_of(profiles.load(name), part, channel)
    for number in (0.0, 1.0) if points.type is Type.BOOL else (0.0, 1.0, 12.0, 27.0):
        reading = shown(points, Wanted(number))
        assert (reading.status, reading.quality) == (Status.MEASURING, Quality.GOOD)
        assert reading.lel_pct == pytest.approx(number, abs=1e-4)


@pytest.mark.parametrize(("name", "part", "channel"), measures())
def test_every_shipped_measure_says_every_word_it_knows(name, part, channel):
    points = points_of(profiles.load(name), part, channel)
    for word in sayable(points) - {"over_range"}:
        assert shown(points, Wanted(1.0, word)).status is SAYINGS[word].status, word
