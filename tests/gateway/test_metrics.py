"""Names of the watch's figures: every counter has one, none is given twice, counters are called counters."""

from dataclasses import fields

from alerts.dispatcher import LaneCount
from gateway.metrics import BUS, INFLUX, LANE, MQTT, STORE
from gateway.store.recorder import Counts
from sensors.drivers.exchanges import Counters
from sensors.drivers.mqtt import MqttCounters


def test_every_counter_of_line_broker_channel_and_store_has_a_name_and_says_what_it_counts() -> None:
    assert set(BUS) == {field.name for field in fields(Counters)}
    assert set(MQTT) == {field.name for field in fields(MqttCounters)}
    assert set(LANE) == {field.name for field in fields(LaneCount)}
    assert set(STORE) == {field.name for field in fields(Counts)}
    assert all(about for _, about in (*BUS.values(), *MQTT.values(), *LANE.values(), *STORE.values(), *INFLUX.values()))


def test_no_name_is_given_twice_and_only_what_is_no_count_lacks_total() -> None:
    names = [name for name, _ in (*BUS.values(), *MQTT.values(), *LANE.values(), *STORE.values(), *INFLUX.values())]
    assert len(set(names)) == len(names)
    assert [name for name in names if not name.endswith("_total")] == [
        "mqtt_refused_topics",
        "channel_waiting",
        "channel_in_hand",
        "influx_spool_points",
        "influx_spool_bytes",
        "influx_proof_age_seconds",
    ]
