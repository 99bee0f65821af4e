"""Any bytes in, never an exception out: every shipped profile against registers and payloads of all kinds."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensors import profiles
from sensors.readings import DetectorId, Quality, Reading
from sensors.rehearsal import own_topic
from sensors.stamps import Instant, Stamp, UtcNanos
from sensors.wire.documents import GarbledPayloadError
from sensors.wire.listener import Listener, MqttPoints
from sensors.wire.payload_points import PayloadPoints
from sensors.wire.points import ModbusPoints
from sensors.wire.registers import InstalledHead, plan
from sensors.wire.units import Basis

BASIS = Basis(1.7, 1.4)


def installed() -> list[tuple[str, ModbusPoints | PayloadPoints]]:
    found = []
    for name in profiles.names():
        profile = profiles.load(name)
        if profile.is_detector:
            points = profile.installed(profiles.example_settings(profile)).points
            assert points is not None
            found.append((name, points))
    return found


ALL = installed()
REGISTERS = [(name, points) for name, points in ALL if isinstance(points, ModbusPoints)]
MESSAGES = [(name, points) for name, points in ALL if isinstance(points, PayloadPoints)]


def sane(reading: Reading) -> None:
    for number in (reading.lel_pct, reading.at_least):
        assert number is None or math.isfinite(number)
    assert reading.quality is not Quality.GOOD or reading.lel_pct is not None or reading.at_least is not None
    assert reading.quality is not Quality.BAD or reading.lel_pct is None


@pytest.mark.parametrize(("name", "points"), REGISTERS, ids=[name for name, _ in REGISTERS])
@settings(max_examples=60)
@given(data=st.data())
def test_any_registers_become_a_sane_reading(name, points, data):
    blocks = plan(5, [InstalledHead(DetectorId("D"), points, BASIS)])
    assert blocks
    for block in blocks:
        size = sum(ask.third for ask in block.asks)
        for second in range(3):
            words = data.draw(st.binary(min_size=size, max_size=size))
            for reading in block.readings(words, 0, Stamp(Instant(second * 10**9), UtcNanos(0))):
                sane(reading)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()


def documents_for(points: PayloadPoints) -> st.SearchStrategy[object]:
    """Documents that have the profile's own keys, with anything in them."""
    keys = {step for field in points.fields() for step in field.pointer.split("/") if step} or {"x"}
    return st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(sorted(keys)) | st.text(), inner),
        max_leaves=12,
    )


@pytest.mark.parametrize(("name", "points"), MESSAGES, ids=[name for name, _ in MESSAGES])
@settings(max_examples=60)
@given(data=st.data())
def test_any_payload_becomes_sane_readings_or_is_garbled(name, points, data):
    topic = own_topic(points)
    listener = Listener(MqttPoints(DetectorId("D"), topic, points, BASIS))
    for second in range(3):
        payload = data.draw(st.binary(max_size=60) | documents_for(points).map(lambda each: json.dumps(each).encode()))
        at = data.draw(st.sampled_from([*listener.topics, topic, "a/b/online"]))
        retained = data.draw(st.booleans())
        try:
            outcomes = listener.hear(at, payload, Stamp(Instant(second * 10**9), UtcNanos(0)), retained=retained)
        except GarbledPayloadError:
            continue
        for outcome in outcomes:
            if isinstance(outcome, Reading):
                sane(outcome)
                assert not retained or outcome.gas() is None
