"""A journal file, ways to write it, and a disk that can fail."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from journal_lives import DEADLINE_S, DEPOT, Answers, make_record

from gateway.engine.events import Record
from gateway.journal import Journal, writer
from simulator.disks import FaultyDisk


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
