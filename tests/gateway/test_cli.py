import asyncio
import json
import os
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway.cli import OWN, Vigia
from gateway.commands.init import Answers, Place, render
from gateway.commands.talk import Talk
from gateway.config import load
from simulator.scripted import ScriptedServer, ScriptedUnit

VIGIA = Path(sys.executable).with_name("vigia")
CONTRACT = Path(__file__).with_name("contract.toml").read_text("utf-8")
ENGLISH = {"VIGIA_LANG": "en", "VIGIA_HOOK_SECRET": "hush"}


def vigia(*args: str | Path, environ: dict[str, str] | None = None) -> Result:
    talk = Talk.of(ENGLISH if environ is None else environ)
    return CliRunner().invoke(Vigia(talk), [str(arg) for arg in args])


def contract(folder: Path, old: str = "", new: str = "") -> Path:
    assert old in CONTRACT
    file = folder / "depot.toml"
    file.write_text(CONTRACT.replace(old, new) if old else CONTRACT, "utf-8")
    return file


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


async def in_a_process(*args: str | Path, **environ: str) -> Ran:
    """The installed command, as a person runs it."""
    process = await asyncio.create_subprocess_exec(
        VIGIA,
        *args,
        env={**os.environ, **ENGLISH, **environ},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(30):
        out, err = await process.communicate()
    return Ran(process.returncode or 0, out.decode(), err.decode())


# --- the group -----------------------------------------------------------------------------------


def test_help_lists_every_command_in_the_persons_language() -> None:
    english, portuguese = vigia("--help").stdout, vigia("--help", environ={"LANG": "pt_BR.UTF-8"}).stdout

    for name in (*OWN, "demo"):
        assert f"\n  {name} " in english
        assert f"\n  {name} " in portuguese
    assert "Usage: vigia" in english
    assert "Uso: vigia" in portuguese
    assert "Confere o depot.toml" in portuguese
    assert "Mostra esta ajuda." in portuguese


def test_help_imports_neither_the_commands_nor_what_they_need() -> None:
    script = (
        "import sys; from gateway.cli import Vigia; from gateway.commands.talk import Talk\n"
        "try: Vigia(Talk.of({})).main(['--help'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'pydantic', 'pymodbus', 'aiohttp', 'aiomqtt', 'apsw', 'fastapi', 'structlog', 'rich', 'asyncio',\n"
        "         'simulator', 'gateway.config', 'gateway.commands.check', 'gateway.commands.run'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))))\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("name", OWN)
def test_every_command_explains_itself(name: str) -> None:
    assert vigia(name, "--help").exit_code == 0
    assert "Opções" in vigia(name, "--help", environ={}).stdout


def test_a_misspelt_command_or_option_is_a_usage_error_with_the_near_one() -> None:
    command, option = vigia("chek"), vigia("check", "--stric")

    assert (command.exit_code, option.exit_code) == (2, 2)
    assert "no command chek. Did you mean check?" in command.stderr
    assert "no option --stric. Did you mean --strict?" in option.stderr
    assert command.stdout == option.stdout == ""
    assert "o comando chek não existe. Seria check?" in vigia("chek", environ={}).stderr


def test_version_is_one_line() -> None:
    assert vigia("--version").stdout.startswith("vigia 0.")


# --- init ----------------------------------------------------------------------------------------


def test_init_writes_a_file_that_check_passes_without_a_word(tmp_path: Path) -> None:
    file = tmp_path / "depot.toml"
    written, checked = vigia("init", file, "--yes"), vigia("check", file, "--strict")

    assert written.exit_code == 0
    assert written.stdout == f"vigia check {file}\nvigia probe {file}\n"
    assert (checked.exit_code, checked.stderr) == (0, "")
    assert "4 detectors watched" in checked.stdout


@pytest.mark.parametrize("language", ["pt-BR", "en"])
@pytest.mark.parametrize("law", ["", "ferraz-de-vasconcelos-3190-2013"])
@pytest.mark.parametrize("siren", [None, Place("::1", 1502)])
def test_what_init_was_told_is_what_the_file_says(tmp_path: Path, language: str, law: str, siren: Place | None) -> None:
    file, name = tmp_path / "depot.toml", 'Gás "do Zé" \\ filhos'
    answers = Answers(name, 12_480, law, Place("conversor.local", 5020), 3, siren)
    file.write_text(render(answers, language, file, Talk.of({"VIGIA_LANG": language})), "utf-8")
    found = load(file, {})
    depot = found.depot

    assert (depot.name, depot.id, depot.language) == (name, "gas-do-ze-filhos", language)
    assert depot.areas[0].licensed_kg == 12_480
    assert depot.laws == ((law,) if law else ())
    assert (depot.buses[0].settings.host, depot.buses[0].settings.port) == ("conversor.local", 5020)
    assert [head.unit for head in depot.buses[0].heads] == [1, 2, 3]
    assert [output.kind for output in depot.outputs] == (["siren"] if siren else [])
    assert [warning.wrong for warning in found.warnings if siren] == []


def test_init_takes_its_answers_as_flags(tmp_path: Path) -> None:
    file = tmp_path / "d.toml"
    flags = [
        "--name",
        "Leste",
        "--kg",
        "520",
        "--law",
        "-",
        "--host",
        "127.0.0.1:5020",
        "--detectors",
        "2",
        "--siren",
        "-",
    ]
    done = vigia("init", file, *flags)

    assert done.exit_code == 0
    assert load(file, {}).depot.name == "Leste"
    assert len(load(file, {}).depot.detectors) == 2
    assert load(file, {}).depot.outputs == ()


def test_init_never_overwrites(tmp_path: Path) -> None:
    file = tmp_path / "depot.toml"
    file.write_text("mine", "utf-8")
    done = vigia("init", file, "--yes")

    assert done.exit_code == 1
    assert "was not touched" in done.stderr
    assert file.read_text("utf-8") == "mine"


def test_init_asks_nothing_without_a_terminal(tmp_path: Path) -> None:
    done = vigia("init", tmp_path / "depot.toml", "--name", "Leste")

    assert done.exit_code == 2
    assert "--kg, --law, --host, --detectors, --siren, or --yes" in done.stderr
    assert not (tmp_path / "depot.toml").exists()


def test_init_asks_six_questions_at_a_terminal(tmp_path: Path) -> None:
    file = tmp_path / "depot.toml"
    here, there = os.openpty()
    asked = subprocess.Popen(
        [VIGIA, "init", file], stdin=there, stdout=there, stderr=there, env={**os.environ, **ENGLISH}
    )
    os.close(there)
    os.write(here, b"Norte\n6240\n-\n10.0.0.5\n6\n-\n")
    assert asked.wait(20) == 0
    os.close(here)

    depot = load(file, {}).depot
    assert (depot.name, depot.buses[0].settings.host, len(depot.detectors)) == ("Norte", "10.0.0.5", 6)


def test_init_says_why_it_cannot_write(tmp_path: Path) -> None:
    done = vigia("init", tmp_path / "no" / "folder.toml", "--yes")

    assert done.exit_code == 1
    assert "No such file" in done.stderr


# --- check ---------------------------------------------------------------------------------------


def test_check_prints_the_count_and_each_budget_with_its_slow_part(tmp_path: Path) -> None:
    done = vigia("check", contract(tmp_path))

    assert done.exit_code == 0
    assert "3 detectors watched: 2 by Modbus on 1 line(s), 1 by MQTT." in done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == ["GD-101", "GD-102", "GD-201"]
    assert "within 3 s" in done.stdout
    assert "slowest: wait for the poll" in done.stdout
    assert "warning: " in done.stderr
    assert "InfluxDB" in done.stderr


def test_b59_the_number_of_detectors_watched_equals_the_file(tmp_path: Path) -> None:
    done = vigia("check", contract(tmp_path), "--json")

    assert json.loads(done.stdout)["detectors"] == CONTRACT.count("[[detector]]") == 3


def test_check_strict_fails_for_a_detector_without_the_promise(tmp_path: Path) -> None:
    file = contract(tmp_path, "max_age_ms = 2500", "max_age_ms = 60000")

    assert vigia("check", file).exit_code == 0
    assert vigia("check", file, "--strict").exit_code == 1
    assert "GD-201  0.56 s  NOT PROMISED (max_age_ms is longer than the promise)" in vigia("check", file).stdout


def test_check_answers_in_json_what_it_says_in_words(tmp_path: Path) -> None:
    answer = json.loads(vigia("check", contract(tmp_path), "--json").stdout)

    assert answer["ok"] is True
    assert answer["certified"] == 3
    assert answer["budgets"][0]["parts"]["poll"] == 0.5
    assert answer["budgets"][0]["slowest"] == "poll"
    assert answer["warnings"][0]["where"] == "influx"


def test_a_bad_file_ends_every_command_with_78_and_nothing_started(tmp_path: Path) -> None:
    file = contract(tmp_path, "A1 = 10\n", "A1 = 10,5\n")
    line = CONTRACT[: CONTRACT.index("A1 = 10")].count("\n") + 1
    for name in ("check", "probe", "doctor", "run", "status", "service"):
        done = vigia(name, file)

        assert done.exit_code == 78, name
        assert done.stdout == ""
        assert f"{file}:{line}: levels / A1: 10,5 has a decimal comma" in done.stderr
        assert "nothing was started" in done.stderr
    assert sorted(tmp_path.iterdir()) == [file]


def test_the_installed_command_ends_with_78_too(tmp_path: Path) -> None:
    file = contract(tmp_path, "A1 = 10\n", "A1 = 0\n")
    ran = subprocess.run(
        [VIGIA, "run", file], capture_output=True, text=True, check=False, env={**os.environ, **ENGLISH}
    )

    assert ran.returncode == 78
    assert "levels / A1" in ran.stderr


def test_problems_are_data_under_json(tmp_path: Path) -> None:
    done = vigia("check", contract(tmp_path, "A1 = 10\n", "A1 = 99\n"), "--json")
    answer = json.loads(done.stdout)

    assert done.exit_code == 78
    assert answer["ok"] is False
    assert {problem["where"] for problem in answer["problems"]} == {"levels / A1"}
    assert all(set(problem) == {"file", "line", "where", "wrong", "right"} for problem in answer["problems"])


def a_closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_check_connect_names_the_hosts_that_do_not_answer(tmp_path: Path) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    up, down = listener.getsockname()[1], a_closed_port()
    text = CONTRACT.replace("port = 5020", f"port = {up}").replace("port = 5021", f"port = {down}")
    file = tmp_path / "depot.toml"
    file.write_text(text.replace("port = 1883", f"port = {up}").replace(":9000", f":{up}"), "utf-8")
    done = vigia("check", file, "--connect")
    listener.close()

    assert done.exit_code == 1
    assert f"bus detectores: 127.0.0.1:{up} answers" in done.stdout
    assert f"bus saidas: 127.0.0.1:{down} does not answer (Connection refused); check cable" in done.stderr
    assert "mqtt" not in done.stderr


# --- probe ---------------------------------------------------------------------------------------


LINE = """
[depot]
id = "x"
[levels]
A1 = 10
A2 = 20
A3 = 40
[[area]]
id = "patio"
licensed_kg = 1560
[[bus]]
id = "linha"
host = "127.0.0.1"
port = {port}
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
    file.write_text(LINE.format(port=port) + extra, "utf-8")
    return file


async def test_probe_reads_each_head_once_raw_and_decoded(tmp_path: Path) -> None:
    units = {1: ScriptedUnit(holding={0: 73}), 2: ScriptedUnit(holding={0: 4})}
    async with ScriptedServer(units) as server:
        file = line_file(tmp_path, server.port)
        words, data = await in_a_process("probe", file), await in_a_process("probe", file, "--json")

    assert (words.code, data.code) == (0, 0)
    assert "7.30 %LEL" in words.out
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


async def test_probe_says_when_nothing_listens_at_all(tmp_path: Path) -> None:
    ran = await in_a_process("probe", line_file(tmp_path, a_closed_port()))

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
    assert "7.3 %LEL" in words.out
    assert {"gateway_running", "journal"} <= {one["check"] for one in json.loads(sick.out)["findings"]}


def test_doctor_finds_a_sound_machine_sound(tmp_path: Path) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    done = vigia("doctor", line_file(tmp_path, listener.getsockname()[1], '[web]\nlisten = "127.0.0.1:65000"\n'))
    listener.close()

    assert done.exit_code == 0, done.output
    assert "All is well." in done.stderr
    for found in ("clock: ", "time zone America/Sao_Paulo", "can be written", "MB free", "journal: will be", "answers"):
        assert found in done.stdout


def test_doctor_names_the_cure_of_every_red_line(tmp_path: Path) -> None:
    holder = socket.create_server(("127.0.0.1", 0))
    taken, closed = holder.getsockname()[1], a_closed_port()
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "journal.db").write_bytes(b"not a journal" * 100)
    web = f'[web]\nlisten = "127.0.0.1:{taken}"\n[mqtt]\nhost = "127.0.0.1"\nport = {closed}\n'
    done = vigia("doctor", line_file(tmp_path, closed, web))
    holder.close()
    red = [line for line in done.stdout.splitlines() if line.startswith(" X")]

    assert done.exit_code == 1
    assert len(red) == 4
    assert "journal" in red[0]
    assert "point depot.data to a new folder" in red[0]
    assert "page: 127.0.0.1" in red[1]
    assert "change the port in [web] listen" in red[1]
    assert all("check cable, address, port" in line for line in red[2:])
    assert "4 problem(s)" in done.stderr


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
    assert "not-authorised" in refused["text"]
    assert "username and password_env" in refused["text"]


def test_service_writes_a_unit_that_restarts_and_is_fed(tmp_path: Path) -> None:
    odd = tmp_path / "depósito 100% novo"
    odd.mkdir()
    file = contract(odd)
    printed, written = vigia("service", file).stdout, vigia("service", file, "-o", tmp_path / "vigia.service")

    assert written.exit_code == 0
    assert (tmp_path / "vigia.service").read_text("utf-8") == printed
    for line in ("Type=notify", "WatchdogSec=10", "Restart=always", "ExecReload=kill -HUP $MAINPID", "DynamicUser=yes"):
        assert f"\n{line}\n" in printed
    assert f"run '{str(file).replace('%', '%%')}'" in printed
    assert vigia("service", file, "-o", tmp_path / "no" / "unit").exit_code == 1
