"""Virtual time, its threads, its net, and a disk that loses its power."""

import asyncio
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from simulator.disks import LossyDisk
from simulator.pipes import HOST, NetLoop
from simulator.virtual import VirtualClock
from simulator.virtual_threads import VirtualThreads, current


@pytest.fixture
def loop() -> Iterator[NetLoop]:
    virtual = NetLoop()
    yield virtual
    virtual.close()


def test_a_day_passes_at_once(loop: NetLoop) -> None:
    clock, before = VirtualClock(loop), loop.time()
    first = clock.now()
    loop.run_until_complete(asyncio.sleep(86_400.0))
    assert loop.time() - before == 86_400.0
    assert (clock.now().mono - first.mono, clock.now().utc - first.utc) == (86_400 * 10**9, 86_400 * 10**9)


def test_timers_of_one_moment_run_in_the_order_in_which_they_were_set(loop: NetLoop) -> None:
    order: list[int] = []
    for number in range(50):
        loop.call_at(2000.0, order.append, number)
    loop.call_at(1500.0, order.append, -1)
    loop.run_until_complete(asyncio.sleep(1100.0))
    assert order == [-1, *range(50)]


def test_cancelled_timers_are_forgotten_while_others_keep_their_turn(loop: NetLoop) -> None:
    ran: list[int] = []

    def cancel_most() -> None:
        for handle in handles[:180]:
            handle.cancel()

    handles = [loop.call_at(1010.0 + number, ran.append, number) for number in range(200)]
    loop.call_at(1001.0, cancel_most)
    loop.run_until_complete(asyncio.sleep(1000.0))
    assert ran == list(range(180, 200))
    assert loop.pending == 0


def test_a_circle_that_takes_no_time_is_an_error(loop: NetLoop) -> None:
    def again() -> None:
        loop.call_soon(again)

    again()
    with pytest.raises(RuntimeError, match="no time has passed"):
        loop.run_until_complete(asyncio.sleep(1.0))


def test_nothing_left_to_happen_is_an_error(loop: NetLoop) -> None:
    with pytest.raises(RuntimeError, match="nothing is left"):
        loop.run_until_complete(loop.create_future())


def test_threads_run_in_virtual_time_and_one_at_a_time(loop: NetLoop) -> None:
    threads = VirtualThreads(loop)
    awake, said, jobs = threads.condition(), [], []

    def work() -> None:
        while len(said) < 3:
            with awake:
                woken = awake.wait(None if jobs else 5.0)
            said.append((threads.monotonic() - 1000.0, woken, list(jobs)))
            jobs.clear()

    def give() -> None:
        jobs.append("job")
        awake.notify()

    thread = threads.start(work, "worker")
    loop.call_at(1002.0, give)
    loop.run_until_complete(asyncio.sleep(20.0))
    assert said == [(2.0, True, ["job"]), (7.0, False, []), (12.0, False, [])]
    assert not thread.is_alive()


def test_a_killed_thread_ends_where_it_waits(loop: NetLoop) -> None:
    threads = VirtualThreads(loop)
    awake, ended = threads.condition(), []

    def work() -> None:
        try:
            awake.wait()
        finally:
            ended.append(threads.monotonic())

    thread = threads.start(work, "worker")
    loop.run_until_complete(asyncio.sleep(3.0))
    assert ended == []
    threads.kill()
    assert ended == [1003.0] and not thread.is_alive()


def test_a_connection_in_memory_carries_bytes_both_ways_and_tells_a_reset_from_an_end(loop: NetLoop) -> None:
    class Far(asyncio.Protocol):
        def connection_made(self, transport) -> None:
            self.transport = transport
            far.append(self)

        def data_received(self, data: bytes) -> None:
            self.transport.write(data.upper())

    class Near(asyncio.Protocol):
        def __init__(self) -> None:
            self.got, self.lost = b"", "not yet"

        def data_received(self, data: bytes) -> None:
            self.got += data

        def connection_lost(self, exc: Exception | None) -> None:
            self.lost = type(exc).__name__

    far: list[Far] = []

    async def talk() -> None:
        with pytest.raises(ConnectionRefusedError):
            await loop.create_connection(Near, HOST, 1502)
        listener = await loop.create_server(Far, HOST, 1502)
        first, near = await loop.create_connection(Near, HOST, 1502)
        first.write(b"gas ")
        first.write(b"here")
        await asyncio.sleep(0.01)
        assert near.got == b"GAS HERE"
        far[0].transport.abort()
        _, other = await loop.create_connection(Near, HOST, 1502)
        socket = far[1].transport.get_extra_info("socket")
        socket.setsockopt(1, 13, struct.pack("ii", 1, 0))
        far[1].transport.abort()
        await asyncio.sleep(0.01)
        assert (near.lost, other.lost) == ("NoneType", "ConnectionResetError")
        listener.close()

    loop.run_until_complete(talk())


# --- the disk --------------------------------------------------------------------------------------


@pytest.fixture
def disk() -> Iterator[LossyDisk]:
    def wait(seconds: float) -> None:
        thread = current()
        assert thread is not None
        thread.sleep(seconds)

    lossy = LossyDisk("lossy", wait)
    yield lossy
    lossy.unregister()


def _rows(path: Path) -> list[int]:
    with apsw.Connection(str(path)) as db:
        return [number for (number,) in db.execute("SELECT n FROM t ORDER BY n")]


def _close(db: apsw.Connection) -> None:
    """Let go of the file, as far as it goes without power."""
    with suppress(apsw.Error):
        db.close(force=True)


def _open(path: Path, disk: LossyDisk, *, synchronous: str) -> apsw.Connection:
    db = apsw.Connection(str(path), vfs=disk.name)
    db.execute(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous}").fetchall()
    return db


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_what_was_synced_outlives_a_power_cut_whatever_becomes_of_the_rest(
    disk: LossyDisk, tmp_path: Path, share: float
) -> None:
    path = tmp_path / "journal.db"
    db = _open(path, disk, synchronous="FULL")
    db.execute("CREATE TABLE t (n INTEGER)")
    for number in range(20):
        db.execute("INSERT INTO t VALUES (?)", (number,))
    db.execute("BEGIN")
    db.execute("INSERT INTO t VALUES (99)")
    disk.cut()
    _close(db)
    disk.back(lambda: share)
    assert _rows(path) == list(range(20))


def test_what_was_not_synced_is_lost_in_a_power_cut_and_not_in_a_kill(disk: LossyDisk, tmp_path: Path) -> None:
    for name, survives, expected in (("cut", lambda: 0.0, []), ("kill", None, [1, 2])):
        path = tmp_path / f"{name}.db"
        db = _open(path, disk, synchronous="FULL")
        db.execute("CREATE TABLE t (n INTEGER)")
        db.execute("PRAGMA synchronous = NORMAL").fetchall()  # commits without a sync
        db.execute("INSERT INTO t VALUES (1)")
        db.execute("INSERT INTO t VALUES (2)")
        disk.cut()
        _close(db)
        disk.back(survives)
        assert _rows(path) == expected, name


def test_without_power_nothing_is_written(disk: LossyDisk, tmp_path: Path) -> None:
    db = _open(tmp_path / "journal.db", disk, synchronous="FULL")
    db.execute("CREATE TABLE t (n INTEGER)")
    disk.cut()
    with pytest.raises(apsw.IOError):
        db.execute("INSERT INTO t VALUES (1)")
    _close(db)
    disk.back(None)
