"""The whole gateway as a process of its own, on real sockets: from the register to siren, hook, page and record."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import time
from functools import partial
from pathlib import Path

import aiohttp
import pytest
from patience import until
from whole_depot import Whole


async def test_a_leak_on_a_real_wire_becomes_an_alarm_in_three_seconds(depot: Whole) -> None:
    await depot.start()
    await depot.web_up()
    began = depot.gas(2, 12.3)
    await until(lambda: depot.siren_on, what="the siren")
    assert time.monotonic() - began < 3.0
    (call,) = await until(depot.hook.gas, what="the hook")
    assert call.at - began < 3.0
    body = call.body
    assert (body["subject"], body["level"], body["lel_pct"], body["recorded"]) == ("GD-2", "A1", 12.3, True)
    alarm = await depot.shown("GD-2")
    assert (alarm["subject"], alarm["kind"], alarm["level"]) == ("GD-2", "GAS", "A1")
    assert alarm["sampled"] <= alarm["decided"] <= alarm["first_output"]
    status, _ = await depot.post(f"/api/v1/alarms/{alarm['id']}/acknowledge", by="Ana", note="indo ver")
    assert status == 200
    await until(lambda: not depot.siren_on, what="the siren to stop")
    depot.gas(2, 0.0)
    await until(lambda: depot.hook.gas("cleared"), what="the all-clear")
    status, _ = await depot.post(f"/api/v1/alarms/{alarm['id']}/reset", by="Ana")
    assert status == 200
    await until(lambda: depot.hook.gas("reset"), what="the reset")
    assert await depot.stop() == 0
    events = [e for e in depot.events() if e.kind == "GAS"]
    assert [e.event for e in events] == ["raised", "acknowledged", "cleared", "reset"]
    assert [e.by for e in events] == [None, "Ana", None, "Ana"]
    depot.sound()


async def test_a_rise_sounds_again_after_an_acknowledgement(depot: Whole) -> None:
    await depot.start()
    await depot.web_up()
    depot.gas(1, 15.0)
    await until(lambda: depot.siren_on)
    alarm = await depot.shown("GD-1")
    await depot.post(f"/api/v1/alarms/{alarm['id']}/acknowledge", by="Ana")
    await until(lambda: not depot.siren_on)
    began = depot.gas(1, 45.0)
    await until(lambda: depot.siren_on, what="the siren again")
    assert time.monotonic() - began < 3.0
    (risen,) = await until(lambda: depot.hook.gas("risen"))
    assert risen.at - began < 3.0 and risen.body["level"] == "A3"


async def test_gas_present_at_start_alarms_at_once(depot: Whole) -> None:
    depot.gas(3, 80.0)
    await depot.start()
    (call,) = await until(depot.hook.gas)
    assert call.body["level"] == "A3"


@pytest.mark.parametrize("times", [30, pytest.param(1000, marks=pytest.mark.soak)])
async def test_killed_again_and_again_in_the_middle_of_alarms_none_is_lost_and_repeats_share_their_id(
    depot: Whole, seed: int, times: int
) -> None:
    """Each life raises an alarm of a head while the hook refuses; what was recorded must arrive in the end."""
    depot.hook.status = 503
    pauses = [((seed >> (n % 16)) % 13) / 100 for n in range(times)]
    for no, pause in enumerate(pauses):
        head = no % 3 + 1
        await depot.start()
        depot.gas(head, 12.0 if no % 2 else 25.0)
        await until(partial(_more_events, depot, len(depot.events())))
        await asyncio.sleep(pause)  # the kill comes anywhere in the life of the alarm, by the seed
        await depot.kill()
        depot.gas(head, 0.0)
    depot.hook.status = 200
    before = {call.body["id"]: call.body["seq"] for call in depot.hook.calls}
    count = len(depot.hook.calls)
    await depot.start()
    sent = {e.id for e in depot.events() if e.kind in ("GAS", "BLIND", "SYSTEM") and e.event != "silenced"}
    owed = {e.id for e in depot.events() if e.kind == "GAS" and e.event in ("raised", "risen")}
    assert len(owed) >= 3
    await until(
        lambda: owed <= {call.body["id"] for call in depot.hook.calls}, 30.0 + times / 10, "every recorded alarm"
    )
    late = depot.hook.calls[count:]
    for call in late:
        assert before.get(call.body["id"], call.body["seq"]) == call.body["seq"]
    keys: dict[str, set[str]] = {}
    for call in depot.hook.calls:
        keys.setdefault(call.body["id"], set()).add(call.headers["Idempotency-Key"])
    assert all(len(of_one) == 1 for of_one in keys.values())
    assert await depot.stop() == 0
    assert [e.seq for e in depot.events()] == list(range(1, len(depot.events()) + 1))
    assert sent
    depot.sound()


@pytest.mark.trial("B41")
async def test_b41_it_stops_with_streams_open_and_the_pending_notice_goes_out_after_the_restart(depot: Whole) -> None:
    await depot.start()
    await depot.web_up()
    depot.hook.status = 503
    async with aiohttp.ClientSession() as session:
        socket = await session.ws_connect(f"http://127.0.0.1:{depot.web_port}/api/v1/live")
        stream = await session.get(f"http://127.0.0.1:{depot.web_port}/api/v1/stream")
        await socket.receive()
        depot.gas(1, 30.0)
        first = await until(depot.hook.gas)
        began = time.monotonic()
        assert await depot.stop() == 0
        assert time.monotonic() - began < 5.0  # the promise is 2 s; a busy machine is given more
        stream.close()
        await socket.close()
    depot.hook.status = 200
    count = len(depot.hook.calls)
    await depot.start()
    (again, *_) = await until(lambda: [c for c in depot.hook.calls[count:] if c.body["event"] == "raised"])
    assert again.body["id"] == first[0].body["id"]
    assert await depot.stop(signal.SIGINT) == 0


@pytest.mark.trial("B04")
async def test_b04_it_starts_with_everything_off_and_each_link_comes_up_in_any_order(depot: Whole) -> None:
    await depot.line.stop()
    await depot.siren.stop()
    await depot.start()
    await depot.web_up()
    await until(lambda: depot.hook.of("BLIND", "raised", "linha"), what="the notice of the line")
    (notice,) = depot.hook.of("BLIND", "raised", "linha")
    assert notice.body["subjects"] == ["GD-1", "GD-2", "GD-3"]
    await until(lambda: depot.hook.of("SYSTEM", "raised", "output:sirene"), what="the notice of the siren")
    await depot.line.start()
    await until(lambda: depot.hook.of("BLIND", "cleared", "linha"))
    depot.gas(1, 12.0)
    await until(depot.hook.gas)
    await depot.siren.start()
    await until(lambda: depot.siren_on, what="the siren, once it is there")


@pytest.mark.trial("B01")
@pytest.mark.parametrize("cut", ["silent", "reset", "refused"])
async def test_b01_a_line_that_goes_and_comes_back_is_told_and_recovers(depot: Whole, cut: str) -> None:
    await depot.start()
    await until(lambda: len(depot.line.log) > 6)
    began = time.monotonic()
    match cut:
        case "silent":
            depot.line.frozen = True
        case "reset":
            depot.line.mute = True
            depot.line.reset()
        case _:
            await depot.line.stop()
    (notice,) = await until(lambda: depot.hook.of("BLIND", "raised"), what="the notice")
    assert notice.at - began < 3.5
    assert notice.body["subjects"] == ["GD-1", "GD-2", "GD-3"]
    match cut:
        case "silent":
            depot.line.frozen = False
        case "reset":
            depot.line.mute = False
        case _:
            await depot.line.start()
    await until(lambda: depot.hook.of("BLIND", "cleared"), what="the all-clear")
    assert len(depot.hook.of("BLIND", "raised")) == 1


async def test_one_dead_head_is_named_and_its_neighbours_alarm_in_time(depot: Whole) -> None:
    await depot.start()
    await until(lambda: len(depot.line.log) > 6)
    depot.line.units[2].silent = True
    (notice,) = await until(lambda: depot.hook.of("BLIND", "raised"))
    assert notice.body["subject"] == "GD-2"
    began = depot.gas(3, 20.0)
    (call,) = await until(depot.hook.gas)
    assert call.at - began < 3.0


async def test_a_stopped_web_process_delays_no_alarm(depot: Whole) -> None:
    await depot.start()
    await depot.web_up()
    assert depot.process is not None
    children = await asyncio.to_thread(_children, depot.process.pid)
    (web,) = [pid for pid, command in children if "webchild" in command]
    os.kill(web, signal.SIGSTOP)
    try:
        for head in (1, 2, 3):
            began = depot.gas(head, 12.0)
            await until(lambda h=head: [c for c in depot.hook.gas() if c.body["subject"] == f"GD-{h}"])
            assert time.monotonic() - began < 3.0
    finally:
        with contextlib.suppress(ProcessLookupError):  # one that is stopped for long is ended, and started anew
            os.kill(web, signal.SIGCONT)
    assert await depot.stop() == 0


async def test_a_web_process_that_dies_is_told_and_comes_back(depot: Whole) -> None:
    await depot.start()
    await depot.web_up()
    assert depot.process is not None
    (web,) = [pid for pid, command in _children(depot.process.pid) if "webchild" in command]
    os.kill(web, signal.SIGKILL)
    await until(lambda: depot.hook.of("SYSTEM", "raised", "task:web"))
    await depot.web_up()


async def test_no_web_process_outlives_a_killed_gateway(depot: Whole) -> None:
    await depot.start()
    await depot.web_up()
    assert depot.process is not None
    (web,) = [pid for pid, command in _children(depot.process.pid) if "webchild" in command]
    await depot.kill()
    await until(lambda: not _alive(web), what="the end of the web process")


async def test_a_hung_hook_does_not_hold_up_the_siren(depot: Whole) -> None:
    depot.hook.status = None
    await depot.start()
    await until(lambda: len(depot.line.log) > 6)
    for head, lel in ((1, 12.0), (2, 25.0), (3, 50.0)):
        began = depot.gas(head, lel)
        await until(lambda: depot.siren_on)
        assert time.monotonic() - began < 3.0


async def test_a_good_new_configuration_is_followed_and_a_bad_one_changes_nothing(depot: Whole) -> None:
    depot.gas(1, 8.0)
    await depot.start()
    await until(lambda: len(depot.line.log) > 6)
    assert depot.process is not None
    depot.changes = {"A1 = 10": "A1 = 55"}
    depot.write()
    depot.process.send_signal(signal.SIGHUP)
    await until(lambda: depot.hook.of("SYSTEM", "raised", "configuration"))
    assert not depot.hook.gas()
    depot.changes = {"A1 = 10": "A1 = 5"}
    depot.write()
    depot.process.send_signal(signal.SIGHUP)
    await until(depot.hook.gas, what="the alarm at the new set-point")
    await until(lambda: depot.hook.of("SYSTEM", "cleared", "configuration"))
    assert await depot.stop() == 0


async def test_two_gateways_never_watch_one_depot(depot: Whole) -> None:
    await depot.start()
    first = depot.process
    await depot.start(ready=False)
    assert depot.process is not None
    assert await depot.process.wait() == 1
    depot.process = first
    began = depot.gas(1, 12.0)
    await until(depot.hook.gas)
    assert time.monotonic() - began < 3.0


async def test_readiness_watchdog_and_stop_are_told_to_the_service_manager(depot: Whole, monkeypatch) -> None:
    address = str(depot.folder / "notify.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        await depot.start()
        heard: list[str] = []

        def listen() -> bool:
            while True:
                try:
                    heard.append(manager.recv(4096).decode())
                except BlockingIOError:
                    return sum("WATCHDOG=1" in line for line in heard) >= 2

        await until(listen)
        assert heard[0].startswith("READY=1")
        await depot.stop()
        listen()
        assert any("STOPPING=1" in line for line in heard)


async def test_status_tells_the_present_state_as_json(depot: Whole) -> None:
    await depot.start()
    depot.gas(1, 12.0)
    await until(depot.hook.gas)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "gateway.cli",
        "status",
        str(depot.file),
        "--json",
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"VIGIA_HOOK_SECRET": "segredo"},
    )
    out, _ = await process.communicate()
    state = json.loads(out)
    assert [a["subject"] for a in state["alarms"]] == ["GD-1"]


def _more_events(depot: Whole, than: int) -> bool:
    return len(depot.events()) > than


def _children(pid: int) -> list[tuple[int, str]]:
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            command = (entry / "cmdline").read_text().replace("\0", " ")
        except (OSError, IndexError):
            continue
        if parent == pid:
            found.append((int(entry.name), command))
    return found


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
