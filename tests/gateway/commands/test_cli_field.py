"""The commands that talk to the field, to a running gateway or to the machine."""

import asyncio
import json
import os
import re
import socket
import sys
from pathlib import Path

import aiomqtt
import pytest
from field_command import CONTRACT, ENGLISH, ONE_LINE, contract
from field_command import vigia as in_a_process
from field_command import vigia_here as vigia

from simulator.scripted import ScriptedServer, ScriptedUnit
from simulator.staging import free_port

VIGIA = Path(sys.executable).with_name("vigia")


HEADS = """
[[detector]]
id = "GD-1"
area = "patio"
bus = "linha"
unit = 1
profile = "generic-modbus"
register = 0
type = "uint16"
scale = 0.1
lel_vol_pct = 1.4
[[detector]]
id = "GD-2"
area = "patio"
bus = "linha"
unit = 2
profile = "generic-modbus"
register = 0
type = "uint16"
"""


def line_file(folder: Path, port: int, extra: str = "") -> Path:
    file = folder / "depot.toml"
    file.write_text(ONE_LINE.format(port=port) + HEADS + extra, "utf-8")
    return file


# --- probe ---------------------------------------------------------------------------------------


async def test_probe_reads_each_head_once_raw_and_decoded(tmp_path: Path) -> None:
    units = {1: ScriptedUnit(holding={0: 73}), 2: ScriptedUnit(holding={0: 4})}
    async with ScriptedServer(units) as server:
        file = line_file(tmp_path, server.port)
        words, data = await in_a_process("probe", file), await in_a_process("probe", file, "--json")

    assert (words.code, data.code) == (0, 0)
    assert "7.30 % LEL" in words.out
    assert "raw 73" in words.out
    assert "2 of 2 detectors read." in words.err
    first, second = json.loads(data.out)
    assert (first["detector"], first["raw"], first["lel_pct"], first["quality"]) == (
        "GD-1",
        73,
        pytest.approx(7.3),
        "good",
    )
    assert second["lel_pct"] == pytest.approx(4 * 2.1 / 1.4)  # nobody told its basis: it over-reads
    assert 0 <= first["age_s"] < 5


async def test_probe_fails_for_a_mute_head_and_names_it_with_the_cure(tmp_path: Path) -> None:
    async with ScriptedServer({1: ScriptedUnit(holding={0: 73}), 2: ScriptedUnit(silent=True)}) as server:
        ran = await in_a_process("probe", line_file(tmp_path, server.port))
        alone = await in_a_process("probe", tmp_path / "depot.toml", "GD-1")

    assert ran.code == 1
    assert "GD-2  no reading: " in ran.out
    assert "No good reading: GD-2. Check cable and power" in ran.err
    assert (alone.code, "GD-2" in alone.out) == (0, False)


@pytest.mark.servers
async def test_probe_waits_for_what_an_mqtt_head_publishes_and_fails_without_it(
    tmp_path: Path, mosquitto: object
) -> None:
    port: int = mosquitto.port  # type: ignore[attr-defined]  # the fixture's class lives in conftest
    text = CONTRACT.replace("port = 1883", f"port = {port}").replace("max_age_ms = 2500", "max_age_ms = 1000")
    file = tmp_path / "depot.toml"
    file.write_text(text, "utf-8")
    silent = await in_a_process("probe", file, "GD-201")
    heard = asyncio.create_task(in_a_process("probe", file, "GD-201"))
    async with aiomqtt.Client("127.0.0.1", port) as head:
        while not heard.done():
            await head.publish("depot/GD-201", '{"lel": 12.5}', qos=1)
            await asyncio.wait({heard}, timeout=0.1)

    assert silent.code == 1
    assert "GD-201  no reading" in silent.out
    assert (heard.result().code, "raw 12.5" in heard.result().out) == (0, True)


async def test_probe_says_when_nothing_listens_at_all(tmp_path: Path) -> None:
    ran = await in_a_process("probe", line_file(tmp_path, free_port()))

    assert ran.code == 1
    assert "refused" in ran.out


def test_probe_of_a_head_that_is_not_in_the_file_is_a_usage_error(tmp_path: Path) -> None:
    done = vigia("probe", line_file(tmp_path, 1), "GD-9")

    assert done.exit_code == 2
    assert "GD-9; there are: GD-1, GD-2" in done.stderr


# --- status, run, doctor, service ----------------------------------------------------------------


def test_status_says_how_to_start_a_gateway_that_is_not_running(tmp_path: Path) -> None:
    words, data = vigia("status", line_file(tmp_path, 1)), vigia("status", tmp_path / "depot.toml", "--json")

    assert (words.exit_code, data.exit_code) == (1, 1)
    assert "vigia run" in words.stderr
    assert json.loads(data.stdout)["error"] == "not-running"


async def test_run_watches_and_status_shows_it_until_it_is_told_to_stop(tmp_path: Path) -> None:
    async with ScriptedServer({1: ScriptedUnit(holding={0: 73}), 2: ScriptedUnit(holding={0: 0})}) as server:
        file = line_file(tmp_path, server.port)
        watch = await asyncio.create_subprocess_exec(
            VIGIA, "run", file, env={**os.environ, **ENGLISH}, stderr=asyncio.subprocess.PIPE
        )
        assert watch.stderr is not None
        try:
            async with asyncio.timeout(20):
                while True:
                    data = await in_a_process("status", file, "--json")
                    if data.code == 0 and all(one["watching"] for one in json.loads(data.out)["detectors"]):
                        break
            words, sick = await in_a_process("status", file), await in_a_process("doctor", file, "--json")
            spoken = await in_a_process("status", file, VIGIA_LANG="pt-BR")
        finally:
            watch.terminate()
            async with asyncio.timeout(10):
                said = (await watch.stderr.read()).decode()
                await watch.wait()

    assert watch.returncode == 0
    assert "2 detectors watched" in said
    assert "no output that counts" not in said
    assert "Without the promise of 3 s: GD-1, GD-2" in said
    assert "2 of 2 detectors watching" in words.out
    assert "7.3 % LEL" in words.out and "Quality good" in words.out
    assert "7,3 % LIE" in spoken.out and "Qualidade boa" in spoken.out and "measuring" not in spoken.out
    assert {"gateway_running", "journal"} <= {one["check"] for one in json.loads(sick.out)["findings"]}


def test_doctor_finds_a_sound_machine_sound(tmp_path: Path) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    done = vigia("doctor", line_file(tmp_path, listener.getsockname()[1], '[web]\nlisten = "127.0.0.1:65000"\n'))
    listener.close()

    assert done.exit_code == 0, done.output
    advised = any(line.startswith(" !  ") for line in done.stdout.splitlines())
    assert ("No problem; " if advised else "All is well.") in done.stderr
    for found in ("clock: ", "time zone America/Sao_Paulo", "can be written", "MB free", "journal: will be", "answers"):
        assert found in done.stdout


def test_doctor_advises_where_nobody_away_from_the_machine_is_told(tmp_path: Path) -> None:
    hook = '[[channel]]\nid = "aviso"\nkind = "webhook"\nurl = "http://127.0.0.1:1/"\n'
    owner = '[[recipient]]\nid = "dona"\nname = "Dona"\nrole = "owner"\nchannels = ["aviso"]\n'
    alone = vigia("doctor", line_file(tmp_path, 1)).stdout.splitlines()
    told = vigia("doctor", line_file(tmp_path, 1, hook + owner)).stdout

    (line,) = [line for line in alone if "nobody away from here is told" in line]
    assert line.startswith(" !") and "webhook or mqtt" in line
    assert "nobody away" not in told
    assert "whoever calls 193" in told, "nor does this depot have an address"


def test_doctor_names_the_cure_of_every_red_line(tmp_path: Path) -> None:
    holder = socket.create_server(("127.0.0.1", 0))
    taken, closed = holder.getsockname()[1], free_port()
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "journal.db").write_bytes(b"not a journal" * 100)
    web = f'[web]\nlisten = "127.0.0.1:{taken}"\n[mqtt]\nhost = "127.0.0.1"\nport = {closed}\n'
    done = vigia("doctor", line_file(tmp_path, closed, web))
    holder.close()
    red = [line for line in done.stdout.splitlines() if line.startswith(" X")]

    assert done.exit_code == 1
    assert len(red) == 4
    assert "journal" in red[0]
    assert "put back the last backup" in red[0]
    assert "page: 127.0.0.1" in red[1]
    assert "change the port in [web] listen" in red[1]
    assert all("check cable, address, port" in line for line in red[2:])
    assert "4 problems" in done.stderr


def test_doctor_sees_a_clock_that_runs_behind_the_file(tmp_path: Path) -> None:
    file = line_file(tmp_path, 1)
    os.utime(file, (4e9, 4e9))
    findings = json.loads(vigia("doctor", file, "--json").stdout)["findings"]

    (behind,) = [one for one in findings if one["check"] == "clock_behind"]
    assert behind["health"] == "bad"
    assert "set the time" in behind["text"]


def test_doctor_sees_a_data_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "var").write_text("", "utf-8")
    done = vigia("doctor", line_file(tmp_path, 1))

    assert "cannot be written; give the folder to the user who starts the watch" in done.stdout


@pytest.mark.servers
def test_doctor_is_let_in_by_a_broker_or_says_why_not(tmp_path: Path, idle_mosquitto: object) -> None:
    broker = idle_mosquitto
    broker.start()  # type: ignore[attr-defined]  # the fixture's class lives in conftest
    section = f'[mqtt]\nhost = "127.0.0.1"\nport = {broker.port}\n'  # type: ignore[attr-defined]
    well = json.loads(vigia("doctor", line_file(tmp_path, 1, section), "--json").stdout)["findings"]
    broker.stop()  # type: ignore[attr-defined]
    broker.start("allow_anonymous false")  # type: ignore[attr-defined]
    sick = json.loads(vigia("doctor", tmp_path / "depot.toml", "--json").stdout)["findings"]

    assert "broker" in {one["check"] for one in well}
    (refused,) = [one for one in sick if one["check"] == "broker_refuses"]
    assert "access refused" in refused["text"]
    assert "username and password_env" in refused["text"]


def test_service_writes_a_unit_that_restarts_and_is_fed(tmp_path: Path) -> None:
    odd = tmp_path / "depósito 100% novo"
    odd.mkdir()
    file = contract(odd)
    printed, written = vigia("service", file).stdout, vigia("service", file, "-o", tmp_path / "vigia.service")

    assert written.exit_code == 0
    assert (tmp_path / "vigia.service").read_text("utf-8") == printed
    for line in (
        "Type=notify",
        "WatchdogSec=10",
        "LimitNOFILE=65536",
        "Restart=always",
        "ExecReload=kill -HUP $MAINPID",
        "DynamicUser=yes",
    ):
        assert f"\n{line}\n" in printed
    assert f"run '{str(file).replace('%', '%%')}'" in printed
    assert "\nPrivateDevices=yes\n" in printed and "SupplementaryGroups" not in printed
    assert vigia("service", file, "-o", tmp_path / "no" / "unit").exit_code == 1


def test_the_service_of_a_depot_with_a_serial_line_sees_its_port(tmp_path: Path) -> None:
    at = 'transport = "rtu"\nbaud = 9600\ndevice = "/dev/serial/by-id/usb-not-plugged-in"\n'
    tcp = CONTRACT[CONTRACT.index('transport = "tcp"') : CONTRACT.index("period_ms")]
    file = contract(tmp_path, tcp, at)
    file.write_text(re.sub(r"^transaction_id.*$", "", file.read_text("utf-8"), flags=re.MULTILINE), "utf-8")
    printed = vigia("service", file).stdout
    assert "\nSupplementaryGroups=dialout\n" in printed
    hiding = ("PrivateDevices", "ProtectClock", "DeviceAllow", "DevicePolicy")  # each lets a port through no more
    assert [line for line in printed.splitlines() if line.startswith(hiding)] == []


def test_service_says_which_folder_its_user_cannot_enter(tmp_path: Path) -> None:
    shut = tmp_path / "casa"
    shut.mkdir(mode=0o700)
    assert "(see the operator guide)" in vigia("service", contract(shut)).stderr
