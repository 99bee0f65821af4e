"""Checkpoints leave the depot: onto the broker, and into a file elsewhere that may not be there."""

import asyncio
import threading

from gateway.sealing import CheckpointCopy

DEADLINE_S = 10.0


class Reports:
    def __init__(self):
        self.heard = []
        self.changed = threading.Event()

    def __call__(self, unwell, reason):
        self.heard.append((unwell, reason))
        self.changed.set()

    def wait(self):
        assert self.changed.wait(DEADLINE_S)
        self.changed.clear()


def test_the_latest_checkpoint_is_in_the_file_when_the_copy_is_closed(tmp_path):
    reports = Reports()
    copy = CheckpointCopy(tmp_path / "kept", reports)
    for number in range(100):
        copy.put(f"note {number}")
    copy.close(DEADLINE_S)
    assert (tmp_path / "kept").read_text() == "note 99"
    assert [one.name for one in tmp_path.iterdir()] == ["kept"]
    assert reports.heard == []


def test_a_place_that_is_gone_is_told_and_told_again_when_it_is_back(tmp_path):
    reports = Reports()
    copy = CheckpointCopy(tmp_path / "pen" / "kept", reports)
    copy.put("one")
    reports.wait()
    assert reports.heard == [(True, "No such file or directory")]
    copy.put("two")
    (tmp_path / "pen").mkdir()
    copy.put("three")
    reports.wait()
    copy.close(DEADLINE_S)
    assert reports.heard[-1] == (False, "")
    assert (tmp_path / "pen" / "kept").read_text() == "three"


async def test_a_copy_that_hangs_holds_up_nobody(tmp_path):
    file = tmp_path / "kept"
    hung = threading.Event()
    go = threading.Event()

    class Slow(CheckpointCopy):
        def _run(self):
            hung.set()
            go.wait(DEADLINE_S)
            super()._run()

    copy = Slow(file, Reports())
    assert hung.wait(DEADLINE_S)
    began = asyncio.get_running_loop().time()
    copy.put("one")
    copy.close(0)
    assert asyncio.get_running_loop().time() - began < 0.5
    go.set()
    copy.close(DEADLINE_S)
    assert file.read_text() == "one"
    assert [one.name for one in tmp_path.iterdir()] == ["kept"]
