"""kill -9 of a real process in the middle of its writes."""

import os
import random
import signal
import subprocess
import sys

from gateway.journal import Journal, JournalReader, check

ROUNDS = 6

# Writes records of three entries and two deliveries as fast as it can, and prints each ticket once it is answered.
CHILD = """
import os, sys
from pathlib import Path
from alerts.alarms import AlarmKey, Delivery, EventId, Kind
from gateway.engine.events import Due, Entry, OutboxRow, Record, StateRow
from gateway.journal import Journal

journal = Journal.open(Path(sys.argv[1]), depot="d")
seq = journal.restored.last_seq
journal.start(
    committed=lambda ticket: os.write(1, b"%d\\n" % ticket),
    trouble=lambda present, reason: os.write(2, reason.replace("slow", "").encode()),  # a busy machine may be slow
)
while True:
    if journal.health().queued > 50:
        continue
    seq += 1
    event = EventId(f"d-{sys.argv[2]}-{seq}")
    journal.submit(Record(
        seq,
        (Entry("alarm", {"seq": seq, "id": event}, "Ana" if seq % 3 else None),
         Entry("output", {"seq": seq, "part": 1}), Entry("output", {"seq": seq, "part": 2})),
        tuple(OutboxRow(Delivery(f"{event}:{n}", event, "dona", "hook"), Due.OWED, seq) for n in (1, 2)),
        (StateRow(AlarmKey("GD-101", Kind.GAS), {"seq": seq}),),
    ))
"""


def run_and_kill(path, round_number, after):
    """Let the child acknowledge `after` tickets, kill it, and return the last ticket it acknowledged."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, path, str(round_number)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    heard = b""
    while heard.count(b"\n") < after:
        more = os.read(child.stdout.fileno(), 4096)
        assert more, child.stderr.read().decode()
        heard += more
    os.kill(child.pid, signal.SIGKILL)
    rest, complaints = child.communicate(timeout=20)
    assert complaints == b""
    assert child.returncode == -signal.SIGKILL
    return int((heard + rest).split(b"\n")[-2])


def test_kill_9_loses_nothing_acknowledged_and_leaves_nothing_half_written(path):
    seed = random.Random(20261130)
    for round_number in range(ROUNDS):
        acknowledged = run_and_kill(path, round_number, seed.randint(1, 400))
        assert check(path) == []
        journal = Journal.open(path, depot="d")
        last = journal.restored.last_seq
        assert last >= acknowledged
        assert journal.restored.states[0].body == {"seq": last}
        assert journal.close(5)
        with JournalReader(path) as reader:
            assert reader.head()[1] == 3 * last
            assert reader.ask("SELECT count(*) FROM outbox") == [(2 * last,)]
            assert reader.ask("SELECT count(*), max(seq) FROM alarm") == [(last, last)]
