"""A child that is hung or stopped is missed like one that ended; one that lives is left alone."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from patience import until

from gateway.children import children
from gateway.children.children import Child, SilentError
from gateway.office.child import MOST_FAILURES, Failures

pytestmark = pytest.mark.asyncio

CHILD = """
import asyncio, os, pathlib, sys, time
from gateway.children import tie

tie.SIGN_EVERY_S = 0.05

async def live(how):
    parted = asyncio.Event()
    tie.Tie(parted.set, lambda: how != "fail").hold()
    pathlib.Path(sys.argv[2]).write_text(str(os.getpid()))
    if how == "hang":
        await asyncio.sleep(0.1)
        time.sleep(30)
    if how in ("live", "fail"):
        await asyncio.sleep(1.0)
    else:
        await parted.wait()

asyncio.run(live(sys.argv[1]))
"""


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which a child of this test writes its number."""
    (tmp_path / "tied_child.py").write_text(CHILD, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(Path(children.__file__).parents[2])]))
    monkeypatch.setattr(children, "SILENT_AFTER_S", 0.3)
    monkeypatch.setattr(children, "END_WITHIN_S", 0.1)
    return tmp_path


def tied(folder: Path, how: str) -> Child:
    return Child("tied_child", (how, str(folder / "number")))


async def started(folder: Path) -> int:
    number = folder / "number"
    return int(await until(lambda: number.exists() and number.read_text(), what="the child"))


def lives(number: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{number}/status").read_text("utf-8")
    except OSError:
        return False


async def test_a_child_whose_loop_hangs_is_ended_and_missed(child: Path) -> None:
    with pytest.raises(SilentError, match="no sign"):
        await asyncio.wait_for(tied(child, "hang").run(), 10)
    assert not lives(await started(child))


async def test_a_stopped_child_is_ended_and_missed(child: Path) -> None:
    async def stop() -> None:
        os.kill(await started(child), signal.SIGSTOP)

    async with asyncio.timeout(10):
        run, _ = await asyncio.gather(tied(child, "wait").run(), stop(), return_exceptions=True)
    assert isinstance(run, SilentError)
    assert not lives(await started(child))


async def test_a_child_that_shows_itself_is_left_alone_for_longer_than_the_silence(
    child: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "SILENT_AFTER_S", 0.7)
    with pytest.raises(ChildProcessError, match="exit code 0"):
        await asyncio.wait_for(tied(child, "live").run(), 10)


async def test_a_child_a_part_of_which_fails_says_so_and_goes_on(child: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "SILENT_AFTER_S", 0.7)
    for how, unwell in (("fail", True), ("live", False)):
        told: set[bool] = set()
        with pytest.raises(ChildProcessError, match="exit code 0"):
            await asyncio.wait_for(tied(child, how).run(told.add), 10)
        assert told == {unwell}


async def test_parts_of_the_office_that_fail_now_and_then_are_no_alarm() -> None:
    failures = Failures()
    for _ in range(MOST_FAILURES - 1):
        failures.hear("judge", True, "StoreError")
    assert failures.none()
    failures.hear("judge", True, "StoreError")
    assert not failures.none()
    failures.hear("judge", False, "")
    assert failures.none()


async def test_a_child_that_never_shows_itself_is_missed_too(child: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "FIRST_SIGN_WITHIN_S", 0.2)
    (child / "mute_child.py").write_text("import time\ntime.sleep(30)\n", encoding="utf-8")
    with pytest.raises(SilentError):
        await asyncio.wait_for(Child("mute_child", ()).run(), 10)


async def test_a_child_ends_when_the_watch_is_gone(child: Path) -> None:
    watch = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "import asyncio, sys; from gateway.children.children import Child; "
        "asyncio.run(Child('tied_child', ('wait', sys.argv[1])).run())",
        str(child / "number"),
    )
    number = await started(child)
    watch.kill()
    await watch.wait()
    await until(lambda: not lives(number), what="the child's end")
