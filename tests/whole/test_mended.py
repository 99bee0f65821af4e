"""Faults that were found by attacking the whole process, each kept as the attack that found it."""

import asyncio
import signal
import socket
import time

from patience import until
from ports import held_port
from whole_depot import Whole


async def test_a_stale_acknowledgement_takes_no_level_the_person_never_saw(depot: Whole) -> None:
    await depot.start()
    await depot.web_up()
    depot.gas(1, 12.0)
    seen = await depot.shown("GD-1")
    depot.gas(1, 60.0)
    await until(lambda: depot.hook.gas("risen"))
    status, answer = await depot.post(f"/api/v1/alarms/{seen['id']}/acknowledge", by="Ana", seen=seen["seq"])
    assert (status, answer["error"]) == (409, "changed")
    assert depot.siren_on
    status, _ = await depot.post(f"/api/v1/alarms/{seen['id']}/acknowledge", by="Ana", seen=seen["seq"] + 1)
    assert status == 200
    await until(lambda: not depot.siren_on)


async def test_a_page_moved_to_another_port_leaves_none_behind(depot: Whole) -> None:
    await depot.start()
    await depot.web_up()
    assert depot.process is not None
    first = depot.web_port
    depot.web_port = held_port(depot)
    depot.write()
    depot.process.send_signal(signal.SIGHUP)
    await depot.web_up()
    await _gone(first)
    second, depot.web_port = depot.web_port, first
    depot.write()
    depot.process.send_signal(signal.SIGHUP)
    await depot.web_up()
    await _gone(second)
    assert not depot.hook.of("SYSTEM", "raised", "task:web")
    assert await depot.stop() == 0
    await _gone(first)


async def test_a_port_that_others_hold_is_named_once_and_had_when_they_let_go(depot: Whole) -> None:
    with socket.create_server(("127.0.0.1", depot.web_port)):
        await depot.start()
        await until(lambda: depot.hook.of("SYSTEM", "raised", "task:web"))
        await asyncio.sleep(1.0)  # a second child has had the time to say it again
        depot.gas(1, 12.0)
        await until(lambda: depot.siren_on)
    await depot.web_up()
    assert depot.log().count(f"127.0.0.1:{depot.web_port} (another program") == 1
    assert depot.log().count("Traceback") <= 1


async def test_a_control_socket_removed_by_others_is_made_anew(depot: Whole) -> None:
    await depot.start()
    await depot.web_up()
    (depot.folder / "var" / "control.sock").unlink()
    await until(depot._answers, what="a new socket")
    depot.gas(1, 12.0)
    await until(lambda: depot.siren_on)
    deadline = time.monotonic() + 10
    while (await depot.get("/health")).get("alive") is not True:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


async def test_a_watch_that_was_stopped_says_so_and_blames_no_head(depot: Whole) -> None:
    await depot.start()
    await until(lambda: len(depot.line.log) > 6)
    assert depot.process is not None
    depot.process.send_signal(signal.SIGSTOP)
    await asyncio.sleep(5.0)  # a real stop of a real process has no virtual clock
    depot.process.send_signal(signal.SIGCONT)
    await until(lambda: depot.hook.of("SYSTEM", "raised", "watch"))
    await until(lambda: depot.hook.of("SYSTEM", "cleared", "watch"))
    assert depot.hook.of("BLIND", "raised") == []


async def _gone(port: int) -> None:
    deadline = time.monotonic() + 5
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            return
        writer.close()
        assert time.monotonic() < deadline, "the old page is still there"
        await asyncio.sleep(0.05)
