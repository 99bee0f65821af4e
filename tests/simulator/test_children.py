"""Child processes: none outlives its parent, and each end is told."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Event

import pytest

from simulator.children import STOP_S, ChildError, Children

PARENT = """
import sys, time
from simulator.children import Children
with Children() as children:
    child = children.start("the broker", "-m", "simulator.broker", pipes=True)
    child.ports()
    print(child.process.pid, flush=True)
    time.sleep(60)
"""
STUBBORN = """
import signal, json, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(json.dumps({"ready": {}}), flush=True)
while True:
    time.sleep(1)
"""

DIARIST = """
import signal, sys
def note(*_):
    with open(sys.argv[2], "a") as diary:
        print(sys.argv[1], file=diary)
    sys.exit()
signal.signal(signal.SIGTERM, note)
print('{"ready": {}}', flush=True)
signal.pause()
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Makes a module out of a text, which children can run."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def write(name: str, text: str) -> str:
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        return name

    return write


def gone(pid: int) -> bool:
    """Tell whether a process has ended; one that waits to be gathered by somebody has."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


def test_no_child_outlives_a_parent_killed_with_nine():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert not gone(child)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    end = time.monotonic() + 5
    while not gone(child) and time.monotonic() < end:
        time.sleep(0.02)
    assert gone(child)


def test_a_child_whose_parent_went_before_it_began_does_not_run():
    late = [sys.executable, "-m", "simulator.lifeline", str(os.getpid() + 1), sys.executable, "-c", "print('ran')"]
    assert subprocess.run(late, capture_output=True, check=False).stdout == b""


@pytest.mark.measured
def test_a_child_that_will_not_stop_is_killed_in_time(module):
    with Children() as children:
        child = children.start("the mule", "-m", module("stubborn", STUBBORN), pipes=True)
        child.ports()
        began = time.monotonic()
    assert child.process.returncode == -signal.SIGKILL
    assert STOP_S <= time.monotonic() - began < STOP_S + 1


def test_children_are_stopped_last_first(module, tmp_path):
    diary = tmp_path / "diary"
    with Children() as children:
        for name in ("one", "two", "three"):
            children.start(name, "-m", module("diarist", DIARIST), name, str(diary), pipes=True).ports()
    assert diary.read_text().split() == ["three", "two", "one"]


def test_a_dead_child_is_reported_with_how_it_ended(module):
    with Children() as children:
        children.start("the goner", "-m", module("goner", "raise SystemExit(3)"), pipes=False).process.wait()
        with pytest.raises(ChildError, match="the goner: exit 3"):
            children.check()


def test_a_child_that_dies_before_it_is_ready_is_an_error_not_a_hang(module):
    with Children() as children:
        child = children.start("the goner", "-m", module("goner", "raise SystemExit(3)"), pipes=True)
        with pytest.raises(ChildError, match="the goner: "):
            child.ports()


def test_waiting_ends_with_a_dead_child_and_with_time(module):
    with Children() as children:
        children.start("the mule", "-m", module("stubborn", STUBBORN), pipes=False)
        with pytest.raises(ChildError, match="the mule: not ready"):
            children.wait(lambda: False, Event(), deadline_s=0.3)
        children.start("the goner", "-m", module("goner", "raise SystemExit(3)"), pipes=False)
        with pytest.raises(ChildError, match="the goner: exit 3"):
            children.wait(lambda: False, Event())
