"""Outputs of the whole gateway on real sockets: a relay board on Modbus, a relay behind Mosquitto, and their proof."""

import asyncio
import json
import os
import signal
import sys
import time
from typing import Any

import aiomqtt
import pytest
from patience import WITHIN_S, until
from whole_depot import Whole

SIREN, BEACON, VALVE, LIFE, STOPPED = 0, 1, 2, 3, 4
BOARD = """
[[channel]]
id = "sinal"
kind = "beacon"
name = "Sinalizador do pátio"
bus = "saidas"
unit = 1
coil = 1

[[channel]]
id = "valvula"
kind = "valve"
bus = "saidas"
unit = 1
energised = "normal"
modbus = {{ function = "coil", register = 2, read_back = {{ function = "discrete", register = 8 }} }}

[[channel]]
id = "vida"
kind = "heartbeat"
bus = "saidas"
unit = 1
coil = 3

[[channel]]
id = "parada"
kind = "relay"
bus = "saidas"
unit = 1
coil = 4
at_stop = "alarm"
{more}
"""
BROKER = """
[mqtt]
host = "127.0.0.1"
port = {port}

[[channel]]
id = "portaria"
kind = "beacon"
profile = "tasmota-relay"
output = "relay"
names = {{ device = "portaria" }}
"""


def with_board(depot: Whole, more: str = "") -> Any:
    """Put a board of four relays where the siren hangs; the valve's own contact shows its coil."""
    depot.extra = BOARD.format(more=more)
    unit = depot.siren.units[1]
    unit.coils |= {BEACON: False, VALVE: False, LIFE: False, STOPPED: False}
    unit.contacts = {8: VALVE}
    return unit


def shows(unit: Any) -> tuple[bool, bool, bool]:
    """Siren sounding, beacon flashing, valve closed (its coil released)."""
    return unit.coils[SIREN], unit.coils[BEACON], not unit.coils[VALVE]


async def act(depot: Whole, alarm: Any, action: str) -> None:
    status, answer = await depot.post(f"/api/v1/alarms/{alarm['id']}/{action}", by="Ana")
    assert status == 200, answer


async def test_siren_beacon_and_valve_follow_the_table_from_the_first_gas_to_the_reset(depot: Whole) -> None:
    unit = with_board(depot)
    await depot.start()
    await depot.web_up()
    await until(lambda: shows(unit) == (False, False, False) and unit.coils[LIFE], what="the state at rest")
    depot.gas(1, 12.0)
    await until(lambda: shows(unit) == (True, True, False), what="siren and beacon")
    alarm = await depot.shown("GD-1")
    await act(depot, alarm, "acknowledge")
    await until(lambda: shows(unit) == (False, True, False), what="the siren to be silent, the beacon not")
    depot.gas(1, 25.0)
    await until(lambda: shows(unit) == (True, True, True), what="the siren again, and the valve after two samples")
    depot.gas(1, 0.0)
    await until(lambda: depot.hook.gas("cleared"))
    assert shows(unit) == (True, True, True)
    (alarm,) = (await depot.get("/api/v1/alarms"))["alarms"]
    await act(depot, alarm, "acknowledge")
    await until(lambda: shows(unit) == (False, True, True))
    await act(depot, alarm, "reset")
    await until(lambda: shows(unit) == (False, False, False) and not unit.coils[STOPPED], what="everything off")
    assert not depot.hook.of("SYSTEM", "raised")
    depot.process.send_signal(signal.SIGHUP)  # new orders that come too late build nothing up again
    assert await depot.stop() == 0
    assert not unit.coils[LIFE] and unit.coils[STOPPED]


async def test_a_contact_that_does_not_follow_is_an_alarm_that_names_the_output(depot: Whole) -> None:
    unit = with_board(depot)
    unit.stuck_coils = {BEACON}
    await depot.start()
    depot.gas(1, 12.0)
    (notice,) = await until(lambda: depot.hook.of("SYSTEM", "raised", "output:sinal"), what="the notice")
    assert "sinal (Sinalizador do pátio)" in notice.body["text"] and "Confira" in notice.body["text"]
    unit.stuck_coils = set()
    await until(lambda: depot.hook.of("SYSTEM", "cleared", "output:sinal"), what="the end of it")


async def test_a_board_that_starts_anew_in_the_middle_of_an_alarm_is_told_again(depot: Whole) -> None:
    unit = with_board(depot)
    await depot.start()
    depot.gas(1, 12.0)
    await until(lambda: shows(unit)[:2] == (True, True))
    unit.coils |= dict.fromkeys((SIREN, BEACON, VALVE, LIFE), False)  # its power came back
    await until(lambda: shows(unit) == (True, True, False), what="all outputs as they were")


async def test_a_kill_leaves_the_valve_closed_and_the_next_life_keeps_it_so(depot: Whole) -> None:
    unit = with_board(depot)
    await depot.start()
    await until(lambda: shows(unit) == (False, False, False), what="the state at rest")
    depot.gas(2, 60.0)
    await until(lambda: shows(unit) == (True, True, True))
    await until(depot.hook.gas)
    depot.gas(2, 0.0)
    await until(lambda: depot.hook.gas("cleared"))
    await depot.kill()
    assert shows(unit) == (True, True, True)
    before = len(depot.siren.log)
    await depot.start()
    await until(lambda: len(depot.siren.log) > before + 20)
    writes = [(r.address, r.count) for r in list(depot.siren.log)[before:] if r.function == 5]
    assert (VALVE, 0xFF00) not in writes, "the valve was opened"
    assert shows(unit) == (True, True, True)

    depot.extra = ""  # the file without the board, in the midst of all that
    depot.write()
    depot.process.send_signal(signal.SIGHUP)
    await until(lambda: (unit.coils[BEACON], unit.coils[LIFE]) == (False, False), what="beacon and heartbeat let go")
    for output in ("sinal", "valvula", "parada"):
        await until(lambda output=output: depot.hook.of("SYSTEM", "raised", f"left-output:{output}"), what=output)
    assert (unit.coils[VALVE], unit.coils[STOPPED]) == (False, True), "what acts on the gas stays"


async def test_the_heartbeat_relay_drops_when_the_loop_stands_still_and_is_held_when_it_turns(
    depot: Whole,
) -> None:
    unit = with_board(depot)
    unit.let_go_s = 2.5
    reader = Looker(depot)
    await depot.start()
    await until(lambda: unit.coils[LIFE])
    await asyncio.sleep(4)
    assert await reader.holds(LIFE)
    assert depot.process is not None
    depot.process.send_signal(signal.SIGSTOP)
    await asyncio.sleep(3)
    held = await reader.holds(LIFE)
    depot.process.send_signal(signal.SIGCONT)
    assert not held
    await until(lambda: unit.coils[LIFE], what="the relay to be held again")


class Looker:
    """Asks the board for a coil as anybody may, over a connection of its own."""

    def __init__(self, depot: Whole) -> None:
        self._server = depot.siren

    async def holds(self, coil: int) -> bool:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._server.port)
        writer.write(bytes((0, 1, 0, 0, 0, 6, 1, 1, 0, coil, 0, 1)))
        answer = await reader.readexactly(10)
        writer.close()
        return bool(answer[9] & 1)


async def confirmed(depot: Whole, name: str) -> None:
    """Wait until the page's API shows the output as wanted and confirmed."""
    deadline = time.monotonic() + WITHIN_S
    while True:
        output = next(one for one in (await depot.get("/api/v1/state"))["outputs"] if one["id"] == name)
        if output["wanted"] and output["confirmed"]:
            return
        assert time.monotonic() < deadline, output
        await asyncio.sleep(0.01)


@pytest.mark.servers
async def test_an_output_behind_the_broker_is_confirmed_by_its_state_topic(depot: Whole, mosquitto: Any) -> None:
    unit = with_board(depot, BROKER.format(port=mosquitto.port))
    told: list[bytes] = []
    silent = asyncio.Event()

    async def device() -> None:
        async with aiomqtt.Client("127.0.0.1", mosquitto.port) as client:
            await client.subscribe("cmnd/portaria/POWER", qos=1)
            async for message in client.messages:
                told.append(bytes(message.payload))
                if not silent.is_set():
                    await client.publish("stat/portaria/POWER", message.payload, qos=1)

    task = asyncio.create_task(device())
    try:
        await depot.start()
        await until(lambda: told[-1:] == [b"OFF"])
        depot.gas(1, 12.0)
        await until(lambda: told[-1:] == [b"ON"] and unit.coils[SIREN])
        await depot.web_up()
        await confirmed(depot, "portaria")
        silent.set()
        alarm = await depot.shown("GD-1")
        depot.gas(1, 0.0)
        await until(lambda: depot.hook.gas("cleared"))
        await act(depot, alarm, "acknowledge")
        await act(depot, alarm, "reset")
        await until(lambda: depot.hook.of("SYSTEM", "raised", "output:portaria"), what="the notice of the mute device")
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def drilled(depot: Whole, *options: str) -> tuple[int, Any]:
    environ = os.environ | {"VIGIA_HOOK_SECRET": "segredo", "VIGIA_LANG": "en"}
    command = (sys.executable, "-m", "gateway.cli", "drill", str(depot.file), "--by", "Ana", "--json", *options)
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, env=environ)
    out, _ = await asyncio.wait_for(process.communicate(), 30)
    return process.returncode or 0, json.loads(out) if out.strip() else None


async def test_a_drill_of_the_running_gateway_proves_each_output_and_fails_for_a_stuck_one(depot: Whole) -> None:
    unit = with_board(depot)
    await depot.start()
    await until(lambda: unit.coils[LIFE])
    began = time.monotonic()
    code, said = await drilled(depot)
    assert (code, said["ok"]) == (0, True)
    assert [(one["output"], one["reason"]) for one in said["outputs"]] == [
        ("sirene", ""),
        ("sinal", ""),
        ("parada", ""),
    ]
    assert all(0 <= one["until_on_ms"] < 1000 for one in said["outputs"])
    assert time.monotonic() - began < 15
    await until(lambda: shows(unit)[:2] == (False, False), what="the drilled outputs at rest")
    unit.stuck_coils = {SIREN}
    code, said = await drilled(depot, "--output", "sirene")
    assert (code, said["outputs"][0]["reason"]) == (1, "not-on")
    assert await until(lambda: depot.hook.of("SYSTEM", "raised", "output-test:sirene"))
    assert not depot.hook.gas()
    unit.stuck_coils = set()
    depot.gas(1, 12.0)
    await until(depot.hook.gas)
    assert (await drilled(depot))[0] == 1


SUPPLIES = """
[[supply]]
id = "nobreak"
name = "Nobreak do escritório"
bus = "saidas"
unit = 1
mains = {{ discrete = 20, when = [0] }}
battery = {{ holding = 30, scale = 0.01, below = 30 }}
check_s = 1
after_s = 1
max_age_s = 5

[mqtt]
host = "127.0.0.1"
port = {port}

[[supply]]
id = "gerador"
mqtt = "gerador/estado"
mains = {{ value = "/rede", when = ["caiu"] }}
after_s = 0
max_age_s = 5
"""


@pytest.mark.servers
async def test_mains_and_battery_are_alarms_and_so_is_a_supply_that_is_not_seen(depot: Whole, mosquitto: Any) -> None:
    unit = with_board(depot, SUPPLIES.format(port=mosquitto.port))
    unit.discrete[20] = True
    unit.holding[30] = 9_500
    said = {"rede": "boa"}

    async def generator() -> None:
        async with aiomqtt.Client("127.0.0.1", mosquitto.port) as client:
            while True:
                await client.publish("gerador/estado", json.dumps(said), qos=1)
                await asyncio.sleep(0.5)

    task = asyncio.create_task(generator())
    try:
        await depot.start()
        await asyncio.sleep(3)
        assert not depot.hook.of("SYSTEM", "raised")
        unit.discrete[20] = False
        said["rede"] = "caiu"
        (notice,) = await until(
            lambda: depot.hook.of("SYSTEM", "raised", "mains:nobreak"), what="the loss of the mains"
        )
        assert "nobreak (Nobreak do escritório)" in notice.body["text"] and "energia da rede" in notice.body["text"]
        await until(lambda: depot.hook.of("SYSTEM", "raised", "mains:gerador"), what="the loss told by the broker")
        unit.holding[30] = 2_900
        await until(lambda: depot.hook.of("SYSTEM", "raised", "battery:nobreak"), what="the weak battery")
        task.cancel()
        await until(lambda: depot.hook.of("SYSTEM", "raised", "supply:gerador"), what="the mute generator")
        unit.discrete[20] = True
        await until(lambda: depot.hook.of("SYSTEM", "cleared", "mains:nobreak"), what="the mains back")
        unit.silent = True
        await until(lambda: depot.hook.of("SYSTEM", "raised", "supply:nobreak"), what="the mute UPS")
        assert not depot.hook.of("SYSTEM", "cleared", "battery:nobreak")
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
