"""Checkpoints leave the depot: onto the broker, and into a file elsewhere that may not be there."""

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.configuration.loading import load
from gateway.journal import Sealed
from gateway.sealing.sealing import CheckpointCopy, Sealing

DEADLINE_S = 10.0
BASE = (Path(__file__).parents[1] / "base.toml").read_text("utf-8")


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


class Board:
    def __init__(self):
        self.notes = []

    def checkpoint(self, note):
        self.notes.append(note)


def sealing_of(tmp_path, board):
    file = tmp_path / "depot.toml"
    file.write_text(BASE, "utf-8")
    depot = replace(load(file, {}).depot, checkpoint_copy=tmp_path / "kept")
    sealing = Sealing(depot)
    sealing.start(asyncio.get_running_loop(), lambda *_, **__: None, lambda: board)
    sealing.follow(depot)
    return sealing


async def test_of_the_checkpoints_of_one_second_the_last_one_goes_out_once(tmp_path):
    board = Board()
    sealing = sealing_of(tmp_path, board)
    for size in (1, 2, 3):
        sealing.take(Sealed(size, bytes(32), f"note {size}"))
    sealing.beat()
    sealing.beat()
    assert board.notes == ["note 3"]
    await asyncio.to_thread(sealing.close)
    assert (tmp_path / "kept").read_text() == "note 3"


async def test_the_checkpoint_of_the_end_is_copied_though_no_beat_comes_any_more(tmp_path):
    sealing = sealing_of(tmp_path, Board())
    sealing.take(Sealed(1, bytes(32), "note 1"))
    await asyncio.to_thread(sealing.close)
    assert (tmp_path / "kept").read_text() == "note 1"


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


@pytest.mark.measured
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
