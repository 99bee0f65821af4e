"""Sparkplug B: payloads byte by byte, and what one head knows after births, deaths, gaps and history."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensors.wire.protobuf import NoBufferError, fields, put_bytes, put_double, put_whole, varint
from sensors.wire.sparkplug import (
    MAX_METRICS,
    EdgeSession,
    Gone,
    Metrics,
    address_of,
    decode,
    rebirth,
    topics_of,
    value_of,
)
from sensors.wire.topics import TopicError
from simulator.edge_node import EdgeNode, metric

TOPIC = "spBv1.0/GLP/DDATA/gateway7/GD-1"
AIR = {"Gas/LEL": 0.5, "Gas/Alarm": False}


def heard(session: EdgeSession, *messages: tuple[str, bytes]) -> Metrics | Gone | None:
    last = None
    for topic, payload in messages:
        last = session.hear(topic, payload)
    return last


def born() -> tuple[EdgeNode, EdgeSession]:
    node, session = EdgeNode(TOPIC), EdgeSession(TOPIC)
    heard(session, *node.birth(AIR))
    return node, session


# --- payloads


def test_a_payload_written_by_hand_is_read_by_the_fields_of_the_specification():
    # timestamp = 1; metric { name "LEL", alias 3, datatype 9 (float), float_value 12.5 }; seq = 2
    inner = b"\x0a\x03LEL" + b"\x10\x03" + b"\x20\x09" + b"\x65" + struct.pack("<f", 12.5)
    found = decode(b"\x08\x01" + b"\x12" + bytes([len(inner)]) + inner + b"\x18\x02")
    assert found.seq == 2
    (one,) = found.metrics
    assert (one.name, one.alias, one.datatype, one.historical, one.null) == ("LEL", 3, 9, False, False)
    assert value_of(one, one.datatype) == 12.5


@pytest.mark.parametrize(
    ("datatype", "field", "value"),
    [
        (1, put_whole(10, 0xFF), -1),
        (1, put_whole(10, 0xFFFFFFFF), -1),
        (2, put_whole(10, 0x8000), -32768),
        (3, put_whole(10, 0xFFFFFFFE), -2),
        (4, put_whole(11, -5), -5),
        (5, put_whole(10, 0xFF), 255),
        (7, put_whole(11, 0xFFFFFFFF), 4294967295),
        (8, put_whole(11, 2**64 - 1), 2**64 - 1),
        (0, put_whole(10, 0xFFFFFFFF), -1),
        (10, put_double(13, -0.25), -0.25),
        (11, put_whole(14, 1), True),
        (11, put_whole(10, 0), False),
        (12, put_bytes(15, "gás".encode()), "gás"),
        (17, put_bytes(16, b"\x01\x02"), None),
        (10, put_whole(7, 1) + put_double(13, 3.0), None),
    ],
)
def test_a_value_is_read_by_its_data_type(datatype, field, value):
    (one,) = decode(put_bytes(2, put_bytes(1, b"x") + put_whole(4, datatype) + field)).metrics
    assert value_of(one, datatype) == value
    assert type(value_of(one, datatype)) is type(value)


@pytest.mark.parametrize(("quality", "value"), [(192, 5.0), (0, None), (500, None)])
def test_a_metric_of_bad_or_stale_quality_has_no_value(quality, value):
    properties = put_bytes(1, b"Quality") + put_bytes(2, put_whole(1, 3) + put_whole(3, quality))
    (one,) = decode(put_bytes(2, put_bytes(1, b"x") + put_bytes(9, properties) + put_double(13, 5.0))).metrics
    assert value_of(one, 10) == value


def test_other_properties_say_nothing_of_a_value():
    properties = put_bytes(1, b"engUnit") + put_bytes(2, put_whole(1, 12) + put_bytes(8, b"%LEL"))
    (one,) = decode(put_bytes(2, put_bytes(1, b"x") + put_bytes(9, properties) + put_double(13, 5.0))).metrics
    assert value_of(one, 10) == 5.0


def test_a_payload_with_more_metrics_than_anybody_has_is_read_up_to_a_bound():
    assert len(decode(metric("x", 1) * (MAX_METRICS + 7)).metrics) == MAX_METRICS


@pytest.mark.parametrize("broken", [b"\x0b", b"\x0d\x01", b"\x12\x05ab", b"\x80", b"\xff" * 11, b"\x12\x01\x80"])
def test_what_is_no_protocol_buffer_is_said_to_be_none(broken):
    with pytest.raises(NoBufferError):
        decode(broken)


@given(st.integers(0, 2**64 - 1), st.binary(max_size=300), st.floats(allow_nan=False))
def test_what_is_written_is_read_again(number, text, double):
    written = put_whole(1, number) + put_bytes(2, text) + put_double(3, double)
    assert [*fields(written)] == [(1, number), (2, text), (3, struct.pack("<d", double))]
    assert varint(number)[-1] < 0x80


@given(st.binary(max_size=80))
def test_any_bytes_are_a_payload_or_none(content):
    session = EdgeSession(TOPIC)
    for kind in ("NBIRTH", "NDATA", "NDEATH"):
        try:
            session.hear(f"spBv1.0/GLP/{kind}/gateway7", content)
            session.hear(TOPIC, content)
        except NoBufferError:
            assert session.wants_birth


# --- topics


@pytest.mark.parametrize(
    "topic",
    [
        "spBv1.0/GLP/DBIRTH/gateway7/GD-1",
        "spBv1.0/GLP/DDATA/gateway7",
        "spBv1.0/GLP/NDATA/gateway7/GD-1",
        "spAv1.0/GLP/DDATA/gateway7/GD-1",
        "depot/GD-1",
    ],
)
def test_a_head_is_named_by_the_topic_of_its_data(topic):
    with pytest.raises(TopicError):
        topics_of(topic)


def test_all_devices_of_a_node_are_heard_for_they_share_its_sequence():
    assert topics_of(TOPIC) == (
        "spBv1.0/GLP/NBIRTH/gateway7",
        "spBv1.0/GLP/NDATA/gateway7",
        "spBv1.0/GLP/NDEATH/gateway7",
        "spBv1.0/GLP/DBIRTH/gateway7/+",
        "spBv1.0/GLP/DDATA/gateway7/+",
        "spBv1.0/GLP/DDEATH/gateway7/+",
    )
    found = address_of(TOPIC)
    assert found is not None
    assert found.command == "spBv1.0/GLP/NCMD/gateway7"


def test_a_request_for_births_is_the_command_of_the_specification():
    found = decode(rebirth(1_700_000_000_000))
    assert found.seq is None
    assert [(one.name, value_of(one, one.datatype)) for one in found.metrics] == [("Node Control/Rebirth", True)]


# --- what a head knows


def test_a_head_asks_for_births_from_the_beginning_and_no_more_once_they_came():
    node, session = EdgeNode(TOPIC), EdgeSession(TOPIC)
    assert session.wants_birth
    node_birth, device_birth = node.birth(AIR)
    assert heard(session, node_birth) == Gone("not-born")
    assert heard(session, device_birth) == Metrics(AIR)
    assert not session.wants_birth
    assert heard(session, node.data({"Gas/LEL": 12.0})) == Metrics({"Gas/LEL": 12.0})


def test_data_by_alias_before_any_birth_is_nothing_and_asks_for_births():
    node, session = EdgeNode(TOPIC), EdgeSession(TOPIC)
    node.birth(AIR)
    assert heard(session, node.data({"Gas/LEL": 12.0})) == Metrics({}, "not-born")
    assert session.wants_birth


def test_data_by_name_before_any_birth_is_gas_that_ends_no_alarm():
    session = EdgeSession(TOPIC)
    payload = metric("Gas/LEL", 12.0) + put_whole(3, 4)
    assert heard(session, (TOPIC, payload)) == Metrics({"Gas/LEL": 12.0}, "not-born")
    assert session.wants_birth


def test_a_gap_is_in_doubt_until_the_node_is_born_anew():
    node, session = born()
    node.data({"Gas/LEL": 1.0})  # lost
    assert heard(session, node.data({"Gas/LEL": 2.0})) == Metrics({"Gas/LEL": 2.0}, "out-of-order")
    assert session.wants_birth
    assert heard(session, node.data({"Gas/LEL": 3.0})) == Metrics({"Gas/LEL": 3.0}, "out-of-order")
    assert heard(session, *node.birth(AIR)) == Metrics(AIR)
    assert not session.wants_birth


def test_a_message_of_another_device_counts_in_the_sequence():
    node, session = born()
    other = EdgeNode(TOPIC.replace("GD-1", "GD-2"))
    other.seq = node.seq
    assert heard(session, (other.topic("DDATA", "GD-2"), metric("x", 1) + put_whole(3, node.seq))) is None
    node.seq += 1
    assert heard(session, node.data({"Gas/LEL": 3.0})) == Metrics({"Gas/LEL": 3.0})


def test_a_garbled_message_of_another_device_is_a_gap_and_no_fault_of_this_head():
    node, session = born()
    assert heard(session, (TOPIC.replace("GD-1", "GD-2"), b"\x0b")) is None
    node.seq += 1
    assert heard(session, node.data({"Gas/LEL": 3.0})) == Metrics({"Gas/LEL": 3.0}, "out-of-order")
    with pytest.raises(NoBufferError):
        session.hear(TOPIC, b"\x0b")


def test_the_sequence_goes_round_after_255():
    node, session = born()
    for value in range(600):
        assert heard(session, node.data({"Gas/LEL": float(value)})) == Metrics({"Gas/LEL": float(value)})


def test_a_death_counts_for_its_own_birth_only():
    node, session = born()
    heard(session, *node.birth(AIR))
    assert heard(session, node.death(bd_seq=0)) is None
    assert heard(session, node.data({"Gas/LEL": 2.0})) == Metrics({"Gas/LEL": 2.0})
    assert heard(session, node.death()) == Gone("offline")
    assert not session.wants_birth, "a node that died is not there to be asked"
    assert heard(session, node.data({"Gas/LEL": 2.0})) == Metrics({}, "not-born")
    assert session.wants_birth


def test_a_device_that_died_is_silent_until_its_own_birth():
    node, session = born()
    assert heard(session, node.device_death()) == Gone("offline")
    assert heard(session, node.data({"Gas/LEL": 2.0})) == Metrics({}, "not-born")
    again = EdgeNode(TOPIC).birth(AIR)[1][1]
    assert isinstance(heard(session, (node.topic("DBIRTH", "GD-1"), again)), Metrics)


def test_a_birth_gives_aliases_anew():
    node, session = born()
    swapped = {"Gas/Alarm": False, "Gas/LEL": 0.5}
    heard(session, *node.birth(swapped))
    assert heard(session, node.data({"Gas/LEL": 7.0})) == Metrics({"Gas/LEL": 7.0})


def test_history_is_left_out():
    node, session = born()
    assert heard(session, node.data({"Gas/LEL": 55.0}, historical=True)) == Metrics({})


def test_after_a_lost_connection_nothing_is_known():
    node, session = born()
    session.forget()
    assert session.wants_birth
    assert heard(session, node.data({"Gas/LEL": 2.0})) == Metrics({}, "not-born")


def test_metrics_of_the_node_itself_come_with_its_own_birth():
    topic = "spBv1.0/GLP/NDATA/gateway7"
    node, session = EdgeNode(topic), EdgeSession(topic)
    found = heard(session, *node.birth(AIR))
    assert isinstance(found, Metrics)
    assert AIR.items() <= found.values.items()
    assert heard(session, node.data({"Gas/LEL": 12.0})) == Metrics({"Gas/LEL": 12.0})


def test_other_nodes_are_none_of_its_business():
    node, session = born()
    assert heard(session, (TOPIC.replace("gateway7", "gateway8"), metric("Gas/LEL", 99.0))) is None
    assert heard(session, ("spBv1.0/GLP/NCMD/gateway7", rebirth(0))) is None
    assert heard(session, node.data({"Gas/LEL": 1.0})) == Metrics({"Gas/LEL": 1.0})
