"""The tables beside the tree, held against its entries: index of alarms and of papers, outbox, persons, states."""

from collections.abc import Iterator, Mapping

from gateway.journal import canonical, persons
from gateway.journal.reader import JournalReader
from gateway.journal.schema import FILED_SINCE
from sensors.sentences import Sentence

MOST_PROBLEMS = 100
"""Problems named; a file with more is not described better by more."""


def faults(
    reader: JournalReader, size: int, alarms: Mapping[int, tuple[int, str]], filed: Mapping[int, str]
) -> Iterator[str]:
    """Name every fault of these tables.

    Args:
        reader: the journal.
        size: how many entries are judged.
        alarms: seq and event of each alarm, by its entry.
        filed: kind of each entry that the office filed.
    """
    yield from _alarms(reader, size, alarms)
    yield from _filed(reader, size, filed)
    yield from _outbox(reader)
    yield from _persons(reader)
    yield from _states(reader)


def _alarms(reader: JournalReader, size: int, alarms: Mapping[int, tuple[int, str]]) -> Iterator[str]:
    """Hold the index of alarm events against the entries, and the seq against gaps."""
    indexed: dict[int, tuple[int, str]] = {}
    seq_before, more = 0, True
    while more:
        rows = reader.ask("SELECT seq, event, idx FROM alarm WHERE seq > ? ORDER BY seq LIMIT ?", (seq_before, 2000))
        more = bool(rows)
        for seq, event, idx in rows:
            if idx >= size and reader.head()[1] > size:
                seq_before = seq  # written since the check began
                continue
            if seq != seq_before + 1:
                yield Sentence("alarm seq {seqs} is missing", seqs=_span(seq_before + 1, seq - 1))
            if idx in indexed:
                yield Sentence(
                    "alarm seq {seq} and {other} both point to entry {idx}", seq=seq, other=indexed[idx][0], idx=idx
                )
            indexed[idx] = (seq, event)
            if alarms.get(idx) != (seq, event):
                yield Sentence(
                    "alarm seq {seq} ({event}) points to entry {idx}, which is not that event",
                    seq=seq,
                    event=event,
                    idx=idx,
                )
            seq_before = seq
    for idx, (seq, event) in alarms.items():
        if idx not in indexed:
            yield Sentence(
                "entry {idx} is alarm seq {seq} ({event}), which the index of alarms lacks",
                idx=idx,
                seq=seq,
                event=event,
            )


def _filed(reader: JournalReader, size: int, filed: Mapping[int, str]) -> Iterator[str]:
    """Hold the index of filed entries against the entries."""
    if reader.version < FILED_SINCE:
        return
    indexed = {idx: kind for idx, kind in reader.ask("SELECT idx, kind FROM filed ORDER BY idx") if idx < size}
    for idx in sorted(indexed.keys() | filed.keys()):
        if indexed.get(idx) != filed.get(idx):
            was, is_now = filed.get(idx, "not filed"), indexed.get(idx, "nothing")
            yield Sentence(
                "entry {idx} is {was}, the index of filed entries says {is_now}", idx=idx, was=was, is_now=is_now
            )


def _span(first: int, last: int) -> str:
    return str(first) if first == last else Sentence("{first} to {last}", first=first, last=last)


def _outbox(reader: JournalReader) -> Iterator[str]:
    rows = reader.ask(
        "SELECT id, event FROM outbox o WHERE NOT EXISTS (SELECT 1 FROM alarm a WHERE a.event = o.event) LIMIT ?",
        (MOST_PROBLEMS,),
    )
    for identity, event in rows:
        yield Sentence(
            "outbox row {identity} belongs to the event {event}, which is not in the journal",
            identity=identity,
            event=event,
        )


def _persons(reader: JournalReader) -> Iterator[str]:
    for ref, salt, name in reader.ask("SELECT ref, salt, name FROM person"):
        if persons.reference(salt, name) != ref:
            yield Sentence("the person under {ref} is not the one whose hash the entries hold", ref=ref)


def _states(reader: JournalReader) -> Iterator[str]:
    for subject, kind, body in reader.ask("SELECT subject, kind, body FROM alarm_state"):
        try:
            canonical.decode(body)
        except ValueError as error:
            yield Sentence(
                "the alarm state of {subject} {kind} is not canonical JSON: {reason}",
                subject=subject,
                kind=kind,
                reason=error,
            )
