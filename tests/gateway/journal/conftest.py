"""Records to write, and ears for what the writer thread answers."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from alerts.alarms import AlarmKey, Delivery, EventId, Kind
from gateway.events import Due, Entry, OutboxRow, Record, StateRow
from gateway.journal import Journal, writer
from sensors.stamps import UtcNanos
from simulator.disks import FaultyDisk

DEPOT = "deposito-centro"
DEADLINE_S = 20.0


class Answers:
    """Collects the writer's callbacks; waits for them with a deadline."""

    def __init__(self) -> None:
        self.tickets: list[int] = []
        self.troubles: list[tuple[bool, str]] = []
        self._changed = threading.Condition()

    def committed(self, ticket: int) -> None:
        with self._changed:
            self.tickets.append(ticket)
            self._changed.notify_all()

    def trouble(self, present: bool, reason: str) -> None:
        with self._changed:
            self.troubles.append((present, reason))
            self._changed.notify_all()

    def wait(self, holds: Callable[[], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(holds, DEADLINE_S), (self.tickets[-3:], self.troubles)

    def wait_for(self, ticket: int) -> None:
        self.wait(lambda: ticket in self.tickets)


def make_record(seq: int, *, person: str | None = None, event: str | None = None, subject: str = "GD-101") -> Record:
    """One alarm event with two deliveries owed, and the alarm's state; the ticket is the seq."""
    identity = EventId(event or f"{DEPOT}-b00t-{seq}")
    body = {
        "seq": seq,
        "id": identity,
        "subject": subject,
        "kind": "GAS",
        "event": "raised",
        "before": "normal",
        "after": "unacknowledged",
        "level": "A1",
        "lel_milli": 12_300,
        "peak_milli": 12_300 + seq,
        "since_ms": 1_790_000_000_000,
        "sampled_ms": 1_790_000_000_000 + seq,
        "at_ms": 1_790_000_000_001 + seq,
        "note": "válvula aberta",
        "reason": "",
        "detail": "",
        "subjects": [],
        "drill": False,
    }
    return Record(
        ticket=seq,
        entries=(Entry("alarm", body, person), Entry("output", {"output": "sirene", "on": True})),
        outbox=tuple(
            OutboxRow(Delivery(f"{identity}:{channel}:dona", identity, "dona", channel), Due.OWED, UtcNanos(seq))
            for channel in ("hook", "mqtt")
        ),
        states=(StateRow(AlarmKey(subject, Kind.GAS), {"id": identity, "acknowledged_by": person}),),
    )


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy test machine is not a slow disk."""
    monkeypatch.setattr(writer, "SLOW_COMMIT_S", 60.0)


@pytest.fixture
def record() -> Callable[..., Record]:
    return make_record


@pytest.fixture
def answers() -> Answers:
    return Answers()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def write(path: Path) -> Callable[..., None]:
    """Write these records into the journal at `path`, in one life of it."""

    def write_all(*records: Record) -> None:
        journal = Journal.open(path, depot=DEPOT)
        answers = Answers()
        journal.start(committed=answers.committed, trouble=answers.trouble)
        for one in records:
            assert journal.submit(one)
        assert journal.close(DEADLINE_S)
        assert answers.troubles == []

    return write_all


@pytest.fixture
def disk() -> Iterator[FaultyDisk]:
    faulty = FaultyDisk("faulty")
    yield faulty
    faulty.unregister()
