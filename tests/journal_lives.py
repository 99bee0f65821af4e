"""Records to write, ears for what the writer thread answers, and lives of a journal that signs its checkpoints."""

import threading
from collections.abc import Callable

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from alerts.alarms import AlarmKey, Delivery, EventId, Kind
from gateway.engine.events import Due, Entry, OutboxRow, Record, StateRow
from gateway.journal import Journal, JournalReader, notes
from gateway.sealing.signing import NoteSigner
from sensors.stamps import UtcNanos

DEPOT = "deposito-centro"
DEADLINE_S = 20.0


def signer(seed: bytes) -> NoteSigner:
    private = Ed25519PrivateKey.from_private_bytes(seed)
    return NoteSigner(notes.VerifyKey(notes.origin_of(DEPOT), private.public_key().public_bytes_raw()), private.sign)


KEY, OTHER = signer(bytes(range(32))), signer(bytes(range(1, 33)))


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


def seal(size, root, key=KEY):
    return key.sign(notes.Checkpoint(key.public.name, size, root).text())


def boot(ticket=1000, key=KEY):
    return Record(
        ticket, (Entry("boot", {"boot": "b00t", "at_ms": 1, "watches": ["GD-101"], "vkey": key.public.text()}),)
    )


def quiet(ticket):
    return Record(ticket, (Entry("output", {"output": "sirene", "on": False, "at_ms": ticket}),))


class Life:
    """One life of a journal that signs."""

    def __init__(self, path, key=KEY, **more):
        self.answers = Answers()
        self.sealed = []
        self.journal = Journal.open(path, depot=DEPOT, seal=lambda size, root: seal(size, root, key), **more)
        self.journal.start(committed=self.answers.committed, trouble=self.answers.trouble, sealed=self._seal)

    def _seal(self, sealed):
        self.sealed.append(sealed)
        self.answers.committed(-1)

    def wait_for_seals(self, count):
        self.answers.wait(lambda: len(self.sealed) >= count)

    def write(self, *records):
        for record in records:
            assert self.journal.submit(record)
            self.answers.wait_for(record.ticket)

    def close(self):
        assert self.journal.close(DEADLINE_S)
        assert self.answers.troubles == []


def entries(path):
    with JournalReader(path) as reader:
        return reader.entries(0, 1000)
