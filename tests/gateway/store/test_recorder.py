"""The recorder: every second is kept with its peak, whatever the disk does."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from recorded import BEGIN_S, ROOMY, HandClock, reading, scan

from alerts.alarms import Kind
from gateway.engine.events import Entry, Record
from gateway.machine.clock import SystemClock
from gateway.store import recorder as module
from gateway.store.embedded import Embedded
from gateway.store.feed import Feed
from gateway.store.history import ReadingsHistory
from gateway.store.recorder import Recorder
from gateway.store.reporting import Reporting
from gateway.store.settings import Changes, Keeping
from gateway.store.spool import Spool
from sensors.readings import DetectorId, Quality, Status
from simulator.bases import parse
from simulator.disks import FaultyDisk


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "readings.db"


@pytest.fixture
def told() -> list[tuple[bool, str]]:
    return []


@pytest.fixture
def make(path: Path, clock: HandClock, told: list[tuple[bool, str]]) -> Iterator[Callable[..., Recorder]]:
    made: list[Recorder] = []

    def build(vfs: str | None = None) -> Recorder:
        made.append(Recorder(path, Keeping(), clock, lambda present, reason: told.append((present, reason)), vfs))
        return made[-1]

    yield build
    for each in made:
        if each._book is not None:
            each._book.close()


def seconds(path: Path, detector: str, count: int) -> tuple[float | None, ...]:
    with ReadingsHistory(path) as history:
        trend = history.trend(detector, BEGIN_S, BEGIN_S + count, 1)
    assert trend is not None
    return trend.mean


def alarm(kind: Kind, subject: str, at_s: float, event: str = "raised") -> Record:
    body = {
        "id": f"centro-1-{subject}",
        "kind": kind.value,
        "subject": subject,
        "event": event,
        "at_ms": round(at_s * 1000),
        "sampled_ms": round(at_s * 1000) - 4,
    }
    return Record(1, (Entry("alarm", body),))


def test_a_second_is_written_when_it_is_over(make, path: Path, clock: HandClock):
    recorder = make()
    recorder.take(scan(reading("a", 1.0, BEGIN_S), reading("b", 2.0, BEGIN_S)))
    recorder.turn()
    assert recorder.counts.seconds == 0
    clock.forward(1.3)
    recorder.turn()
    assert recorder.counts.seconds == 1
    assert seconds(path, "b", 2) == (2.0, None)


def test_the_peak_of_a_second_is_what_is_kept_of_it(make, path: Path, clock: HandClock):
    recorder = make()
    for part, lel in enumerate((1.0, 12.5, 3.0)):
        recorder.take(scan(reading("a", lel, BEGIN_S + part / 3)))
    recorder.take(scan(reading("a", None, BEGIN_S + 0.9)))
    clock.forward(1.3)
    recorder.turn()
    assert seconds(path, "a", 1) == (12.5,)


def test_over_range_is_kept_as_a_bound(make, path: Path, clock: HandClock):
    recorder = make()
    recorder.take(scan(reading("a", None, BEGIN_S, at_least=100.0, quality=Quality.BAD, status=Status.OVER_RANGE)))
    clock.forward(1.3)
    recorder.turn()
    with ReadingsHistory(path) as history:
        trend = history.trend("a", BEGIN_S, BEGIN_S + 1, 1)
    assert trend is not None and (trend.high, trend.status) == ((100.0,), (5,))


def test_a_scan_that_comes_late_still_finds_its_second(make, path: Path, clock: HandClock):
    recorder = make()
    recorder.take(scan(reading("a", 1.0, BEGIN_S)))
    clock.forward(2.3)
    recorder.turn()
    recorder.take(scan(reading("a", 5.0, BEGIN_S + 1)))
    clock.forward(1)
    recorder.turn()
    assert seconds(path, "a", 3) == (1.0, 5.0, None)


def test_a_full_disk_holds_seconds_back_and_loses_none_when_there_is_room_again(make, path, clock, told):
    disk = FaultyDisk("recorder-disk")
    try:
        recorder = make(disk.name)
        for second in range(200):
            if second == 50:
                disk.free_bytes = 0
            if second == 150:
                disk.free_bytes = None
            recorder.take(scan(reading("a", second / 10, BEGIN_S + second)))
            clock.forward(1)
            recorder.turn()
        assert told == [(True, "full"), (False, "")]
        assert seconds(path, "a", 200) == tuple(second / 10 for second in range(200))
        assert recorder.counts.dropped_seconds == 0
        recorder._book.close()
        recorder._book = None
    finally:
        disk.unregister()


def test_a_disk_that_never_recovers_costs_bounded_memory_and_is_counted(make, clock, told, monkeypatch):
    monkeypatch.setattr(module, "MOST_SECONDS", 20)
    disk = FaultyDisk("dead-disk")
    try:
        recorder = make(disk.name)
        recorder.take(scan(reading("a", 1.0, BEGIN_S)))
        clock.forward(1)
        recorder.turn()
        disk.failing = True
        for second in range(1, 61):
            recorder.take(scan(reading("a", 1.0, BEGIN_S + second)))
            clock.forward(1)
            recorder.turn()
        assert len(recorder._pending.seconds) == 20
        assert recorder.counts.dropped_seconds == 40
        assert (True, "dropped") in told
        recorder._book.close()
        recorder._book = None
    finally:
        disk.unregister()


def test_a_thread_that_stands_still_costs_bounded_memory_and_is_counted(make, monkeypatch):
    monkeypatch.setattr(module, "MOST_READINGS", 10)
    recorder = make()
    for _ in range(30):
        recorder.take(scan(reading("a", 1.0, BEGIN_S)))
    assert len(recorder._scans) == 10
    assert recorder.counts.dropped_readings == 20
    recorder.turn()
    recorder.take(scan(reading("a", 1.0, BEGIN_S)))
    assert len(recorder._scans) == 1


def test_a_full_disk_at_the_start_is_no_damage_and_the_file_is_begun_once_there_is_room(make, path, clock, told):
    disk = FaultyDisk("full-at-the-start")
    disk.free_bytes = 0
    try:
        recorder = make(disk.name)
        recorder.take(scan(reading("a", 1.0, BEGIN_S)))
        clock.forward(1)
        recorder.turn()
        assert told == [(True, "full")]
        disk.free_bytes = None
        clock.forward(module.REOPEN_EVERY_S)
        recorder.turn()
        assert told[-1] == (False, "")
        assert not list(path.parent.glob("*damaged*"))
        assert seconds(path, "a", 1) == (1.0,)
        recorder._book.close()
        recorder._book = None
    finally:
        disk.unregister()


def test_a_file_that_cannot_be_opened_now_stays_where_it_is(make, path, clock, told):
    Embedded.open(path).close()
    (path.parent / "readings.db-shm").mkdir()
    recorder = make()
    recorder.take(scan(reading("a", 1.0, BEGIN_S)))
    clock.forward(1)
    recorder.turn()
    assert told == [(True, "read-only")]
    (path.parent / "readings.db-shm").rmdir()
    clock.forward(module.REOPEN_EVERY_S)
    recorder.turn()
    assert told[-1] == (False, "")
    assert not list(path.parent.glob("*damaged*"))
    assert seconds(path, "a", 1) == (1.0,)


def test_a_file_of_somebody_else_is_set_aside(make, path, clock, told):
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE recipes (name)")
    db.close()
    recorder = make()
    recorder.take(scan(reading("a", 1.0, BEGIN_S)))
    clock.forward(1)
    recorder.turn()
    recorder.turn()
    assert told == [(True, "damaged")]
    assert len(list(path.parent.glob("readings.db.damaged-*"))) == 1
    assert seconds(path, "a", 1) == (1.0,)


def test_a_damaged_file_is_set_aside_and_a_new_one_begun(make, path, clock, told):
    path.write_bytes(b"this is no database" * 1000)
    recorder = make()
    for second in range(2):
        recorder.take(scan(reading("a", 1.0, BEGIN_S + second)))
        clock.forward(1)
        recorder.turn()
    assert told == [(True, "damaged")]
    assert [file.name.split("-")[0] for file in path.parent.glob("*damaged*")] == ["readings.db.damaged"]
    assert seconds(path, "a", 2) == (1.0, 1.0)


def test_ten_minutes_around_gas_are_kept_of_all_heads_and_around_blindness_of_the_one(make, path, clock):
    recorder = make()
    recorder.take(scan(reading("a", 1.0, BEGIN_S), reading("b", 1.0, BEGIN_S)))
    recorder.note(alarm(Kind.GAS, "a", BEGIN_S + 10))
    recorder.note(alarm(Kind.BLIND, "b", BEGIN_S + 5000))
    recorder.note(alarm(Kind.SYSTEM, "journal", BEGIN_S + 9000))
    clock.forward(1.3)
    recorder.turn()
    nums = dict(recorder._book._db.execute("SELECT id, num FROM head"))
    assert list(
        recorder._book._db.execute("SELECT head, first - ?, last - ? FROM keep ORDER BY first", (BEGIN_S, BEGIN_S))
    ) == [
        (0, -590, 660),
        (nums["b"], 4400, 5640),
    ]


def test_the_stretches_around_many_alarms_are_kept_as_one(make, path, clock):
    recorder = make()
    recorder.take(scan(reading("a", 1.0, BEGIN_S)))
    for after in (10, 3000, 20, 15, 30):
        recorder.note(alarm(Kind.GAS, "a", BEGIN_S + after))
    clock.forward(1.3)
    recorder.turn()
    assert list(
        recorder._book._db.execute("SELECT first - ?, last - ? FROM keep ORDER BY first", (BEGIN_S, BEGIN_S))
    ) == [
        (-590, 660),
        (2400, 3600),
    ]


def test_of_alarms_that_follow_each_other_one_a_minute_is_written_down_and_all_are_kept(make, clock, monkeypatch):
    written = []
    keep = Embedded.keep
    monkeypatch.setattr(Embedded, "keep", lambda book, *stretch: written.append(stretch) or keep(book, *stretch))
    recorder = make()
    for after in range(90):
        recorder.note(alarm(Kind.GAS if after % 2 else Kind.BLIND, "a", BEGIN_S + after))
        clock.forward(1)
        recorder.turn()
    assert [(head, first - BEGIN_S, last - BEGIN_S) for head, first, last in written] == [
        ("a", -600, 600),
        (None, -599, 660),
        (None, -539, 720),
    ]


def feed_of(recorder: Recorder, spool: Spool, changes: Changes | None = None) -> None:
    recorder.feed = Feed(
        spool,
        Reporting(changes, 10.0),
        depot="centro",
        areas={DetectorId("a"): "patio"},
        most_points=5000,
        put=lambda: None,
    )


def points(spool: Spool):
    found = []
    while (parcel := spool.next(5000)) is not None:
        found += [parse(line) for line in parcel.text.decode().split("\n")]
        spool.done(parcel)
    return found


def test_the_database_gets_every_reading_with_its_own_time_and_the_alarm_with_its_times(make, clock, spool: Spool):
    recorder = make()
    feed_of(recorder, spool)
    recorder.take(scan(reading("a", 1.0, BEGIN_S + 0.25)))
    recorder.take(scan(reading("a", 11.0, BEGIN_S + 0.75)))
    recorder.note(alarm(Kind.GAS, "a", BEGIN_S + 0.754))
    recorder.note(
        Record(
            2,
            (
                Entry(
                    "delivery",
                    {"event": "centro-1-a", "outcome": "accepted", "channel": "hook", "at_ms": BEGIN_S * 1000 + 800},
                ),
            ),
        )
    )
    recorder.beat(clock.now().utc, lambda: {"loop_lag_ms": 0.5})
    recorder.beat(clock.now().utc, lambda: pytest.fail("asked again within ten seconds"))
    clock.forward(1)
    recorder.turn()
    found = points(spool)
    gas = [point for point in found if point.measurement == "gas"]
    assert [(point.ms - BEGIN_S * 1000, point.fields["lel_pct"]) for point in gas] == [(250, 1.0), (750, 11.0)]
    latency = [(point.tags.get("channel"), dict(point.fields)) for point in found if point.measurement == "latency"]
    assert latency == [(None, {"decided_ms": 4.0}), ("hook", {"accepted_ms": 50.0})]
    assert [dict(point.fields) for point in found if point.measurement == "health"] == [{"loop_lag_ms": 0.5}]


def test_by_exception_an_alarm_brings_back_the_minute_before_it(make, clock, spool: Spool):
    recorder = make()
    feed_of(recorder, spool, Changes(0.5, 3600.0))
    for second in range(100):
        recorder.take(scan(reading("a", 1.0, BEGIN_S + second)))
        clock.forward(1)
        recorder.turn()
    assert len(points(spool)) == 1
    recorder.note(alarm(Kind.GAS, "a", BEGIN_S + 100))
    clock.forward(1)
    recorder.turn()
    gas = [point.ms // 1000 - BEGIN_S for point in points(spool) if point.measurement == "gas"]
    assert gas == list(range(40, 100))


def test_a_spool_on_a_full_disk_is_told_and_what_it_could_not_hold_is_on_record(
    make, clock, told, tmp_path, monkeypatch
):
    from gateway.store import feed

    monkeypatch.setattr(feed, "MOST_WAITING", 30)
    disk = FaultyDisk("spool-full")
    try:
        spool = Spool(tmp_path / "full.db", ROOMY, vfs=disk.name)
        recorder = make()
        feed_of(recorder, spool)
        disk.failing = True
        for second in range(100):
            recorder.take(scan(reading("a", 1.0, BEGIN_S + second)))
            clock.forward(1)
            recorder.turn()
        assert told == [(True, "failing")]
        disk.failing = False
        clock.forward(1)
        recorder.turn()
        assert told[-1] == (False, "")
        assert len(points(spool)) == 30
        assert [(loss.points, loss.reason) for loss in spool.losses()] == [(70, "disk")]
        spool.close()
    finally:
        disk.unregister()


@pytest.mark.parametrize(("lel", "kept"), [(1e308, 327.67), (-1e308, -327.67), (1e5, 327.67), (-0.004, 0.0)])
def test_a_number_beyond_all_bounds_is_cut_and_ends_nothing(make, path: Path, clock: HandClock, lel: float, kept):
    recorder = make()
    recorder.take(scan(reading("a", lel, BEGIN_S)))
    clock.forward(1)
    recorder.turn()
    assert seconds(path, "a", 1) == (kept,)


def test_a_thread_that_a_fault_of_ours_has_ended_is_told_and_started_anew(
    make, told, path: Path, clock: HandClock, monkeypatch
):
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    recorder = make()
    monkeypatch.setattr(recorder, "_until_next", lambda: 0.001)
    monkeypatch.setattr(recorder, "_lay", lambda _: 1 // 0)
    recorder.start()
    recorder._thread.join(5.0)
    assert told == [(True, "failing")] and recorder._book is None
    monkeypatch.undo()
    recorder.revive()
    assert not recorder._thread.is_alive(), "not at once: it would only fall again"
    clock.forward(module.ANEW_AFTER_S)
    recorder.take(scan(reading("a", 4.0, BEGIN_S + module.ANEW_AFTER_S)))
    recorder.revive()
    assert recorder.close(5.0)
    assert told[-1] == (False, "")
    with ReadingsHistory(path) as history:
        trend = history.trend("a", BEGIN_S + module.ANEW_AFTER_S, BEGIN_S + module.ANEW_AFTER_S + 1, 1)
    assert trend is not None and trend.mean == (4.0,)


def test_the_thread_records_by_itself_and_puts_everything_away_at_the_end(path: Path):
    clock = SystemClock()
    recorder = Recorder(path, Keeping(), clock, lambda _present, reason: pytest.fail(reason) if reason else None)
    recorder.start()
    now = clock.now().utc / 1e9
    recorder.take(scan(reading("a", 4.0, now)))
    assert recorder.close(5.0)
    assert threading.active_count() < 50
    with ReadingsHistory(path) as history:
        trend = history.trend("a", int(now), int(now) + 1, 1)
    assert trend is not None and trend.mean == (4.0,)


def test_a_write_that_does_not_return_shows_as_a_turn_that_stands(make, clock: HandClock):
    disk = FaultyDisk("hanging-readings")
    try:
        recorder = make(disk.name)
        recorder.take(scan(reading("a", 1.0, BEGIN_S)))
        recorder.turn()
        assert recorder.stands_s() == 0.0
        disk.sync_s = 60.0
        clock.forward(1)
        recorder.take(scan(reading("a", 1.0, BEGIN_S + 1)))
        turning = threading.Thread(target=lambda: recorder.turn(all_of_it=True))
        turning.start()
        while recorder._turning is None and turning.is_alive():
            turning.join(0.001)
        clock.forward(6)
        assert recorder.stands_s() == 6.0
        disk.sync_s = 0.0
        turning.join(5.0)
        assert recorder.stands_s() == 0.0
    finally:
        disk.unregister()
