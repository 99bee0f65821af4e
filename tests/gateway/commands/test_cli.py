"""The commands as a person meets them: help, answers, mistakes and how they end, in their language."""

import errno
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import click
import pytest
from field_command import CONTRACT, ENGLISH, contract
from field_command import vigia_here as vigia

from gateway.cli import OWN
from gateway.commands.init import NOWHERE, Answers, Place, render
from gateway.commands.numbers import Number
from gateway.commands.talk import Talk
from gateway.configuration.loading import load
from simulator.staging import free_port

VIGIA = Path(sys.executable).with_name("vigia")


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


def test_help_of_a_command_below_a_command_is_in_the_persons_language_too() -> None:
    said = vigia("stock", "in", "--help", environ={"LANG": "pt_BR.UTF-8"}).stdout
    assert "Uso: vigia stock in" in said and "Mostra esta ajuda." in said
    assert "Usage" not in said and "Show this message" not in said


def test_no_help_page_has_clicks_own_english() -> None:
    told = [
        vigia(*command, "--help", environ={"LANG": "pt_BR.UTF-8"}).stdout
        for command in (*((name,) for name in OWN), ("stock", "in"), ("register", "set"), ("demo",), ("simulate",))
    ]
    english = re.compile(
        r"\b(OPTIONS|COMMAND|ARGS|TEXT|INTEGER|FLOAT|RANGE|PATH|FILE|FOLDER|DIRECTORY|NAME|DATE|required|default)\b"
    )
    assert [found for page in told for found in english.findall(page)] == []
    assert [page for page in told if "<=" in page or ">=" in page or "None" in page] == []


def test_a_help_page_says_between_what_a_number_lies() -> None:
    init = vigia("init", "--help", environ={"LANG": "pt_BR.UTF-8"}).stdout
    assert "acima de 0, até 1000000000" in " ".join(init.split()) and "[de 1 a 247]" in " ".join(init.split())
    assert "[from 0.2 to 600]" in " ".join(vigia("discover", "--help").stdout.split())


def test_a_list_of_commands_cuts_no_sentence() -> None:
    told = " ".join(vigia("law", "--help", environ={"LANG": "pt_BR.UTF-8"}).stdout.split())
    assert "ambiguidade e a origem de cada número." in told and "..." not in told.partition("Comandos")[2]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("register", "template", "a", "b"), "argumento a mais: b."),
        (("restore",), "falta 'PASTA'."),
        (("drill", "--by"), "falta o valor da opção --by."),
        (("demo", "--scenario", "leek"), "não há o cenário leek; seria 'leak'? Há: "),
        (("simulate", "nada.toml"), "nada.toml não existe; dê o nome de um cenário"),
    ],
)
def test_what_was_typed_wrong_is_said_in_the_persons_language_with_what_would_be_right(
    given: tuple[str, ...], said: str
) -> None:
    done = vigia(*given, environ={"LANG": "pt_BR.UTF-8"})
    assert done.exit_code == 2
    assert said in done.stderr


@pytest.mark.parametrize(("typed", "number"), [("12,5", 12.5), ("12.5", 12.5), (" -0,25 ", -0.25), ("7", 7)])
def test_a_number_may_have_a_decimal_comma(typed: str, number: float) -> None:
    assert Number().convert(typed, None, None) == number
    with pytest.raises(click.BadParameter):
        Number().convert(f"{typed},1,2", None, None)


def test_why_something_failed_is_said_in_the_persons_language(tmp_path: Path) -> None:
    file = tmp_path / "depot.toml"
    here = {"LANG": "pt_BR.UTF-8"}
    assert (
        vigia("init", file, "--yes", "--host", f"127.0.0.1:{free_port()}", "--siren", "-", environ=here).exit_code == 0
    )
    told = {
        name: (done.stdout + done.stderr)
        for name, done in {
            "check": vigia("check", file, environ=here),
            "directory": vigia("check", tmp_path, environ=here),
            "doctor": vigia("doctor", file, environ=here),
            "status": vigia("status", file, environ=here),
            "bump": vigia("bump", file, "GD-101", "--by", "Ana", environ=here),
            "drill": vigia("drill", file, "--by", "Ana", "--tell", environ=here),
            "ledger": vigia("ledger", file, environ=here),
            "verify": vigia("verify", tmp_path / "journal.db", environ=here),
        }.items()
    }
    english = re.compile(
        r"refused|No such|Is a directory|journal is there|gateway answers|cannot be read|Errno|\d\.\d\d s"
    )
    assert {name: found for name, text in told.items() if (found := english.findall(text))} == {}
    assert "espera pela leitura 0,50" in told["check"], "with a decimal comma"
    assert "linha detectores: 127.0.0.1:" in told["doctor"] and "conexão recusada" in told["doctor"]
    assert "não está em funcionamento" in told["bump"] and "execute como root" not in told["bump"]
    assert "journal.db: não existe; dê um journal.db" in told["verify"]


def test_help_imports_neither_the_commands_nor_what_they_need() -> None:
    script = (
        "import sys; from gateway.cli import Vigia; from gateway.commands.talk import Talk\n"
        "try: Vigia(Talk.of({})).main(['--help'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'pydantic', 'pymodbus', 'aiohttp', 'aiomqtt', 'apsw', 'fastapi', 'structlog', 'rich', 'asyncio',\n"
        "         'simulator', 'gateway.configuration.loading', 'gateway.commands.check', 'gateway.commands.run'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)\n"
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


def test_an_argument_that_is_no_text_is_a_usage_error() -> None:
    for arguments in (("register", "fields", "\udcff"), ("bump", "d.toml", "GD-1", "--by=Jos\udce9")):
        said = vigia(*arguments)
        assert said.exit_code == 2
        assert f"argument {len(arguments)} is no UTF-8 text" in said.stderr and "Traceback" not in said.stderr


@pytest.mark.parametrize("full", [True, False], ids=["a full disk", "a terminal of few letters"])
def test_where_its_words_cannot_go_a_command_says_so_or_spells_them(full: bool) -> None:
    environ = os.environ | {"VIGIA_LANG": "pt-BR", "PYTHONIOENCODING": "iso8859-7"}
    with Path("/dev/full").open("wb") as nowhere:
        to = nowhere if full else subprocess.PIPE
        ran = subprocess.run([VIGIA, "law", "list"], stdout=to, stderr=subprocess.PIPE, env=environ, check=False)
    assert b"Traceback" not in ran.stderr and b"Exception" not in ran.stderr
    if full:
        assert ran.returncode == 1 and b"disco cheio" in ran.stderr
    else:
        assert ran.returncode == 0 and b"\\xe7" in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "portuguese", "english"),
    [
        (
            ("init", "--kg=nan"),
            "'--kg' não serve; esperado: um número, acima de 0, até 1000000000.",
            "a number, above 0, up to",
        ),
        (
            ("init", "--detectors=x"),
            "esperado: um número inteiro, a partir de 1, até 247.",
            "a whole number, from 1, up to 247.",
        ),
        (
            ("register", "import", "d.toml", "stock", "none.csv", "--by=Ana"),
            "não serve; esperado: um arquivo que exista e se possa ler.",
            "a file that exists and can be read.",
        ),
        (("init", "--law=x"), "esperado: -, campina-grande", "right would be: -, campina-grande"),
        (("bump", "d.toml", "GD-1", "--minutes=nan"), "'--minutes' não serve", "'--minutes' will not do"),
        (("probe", "d.toml", "--shows=inf"), "esperado: um número.", "right would be: a number."),
        (("demo", "--for=nan"), "a partir de 1.", "from 1."),
        (("swarm", "--hours=nan"), "a partir de 0.1, até 744.", "from 0.1, up to 744."),
    ],
)
def test_a_value_that_will_not_do_is_refused_with_what_would(
    arguments: tuple[str, ...], portuguese: str, english: str
) -> None:
    for environ, said in (({}, portuguese), (ENGLISH, english)):
        done = vigia(*arguments, environ=environ)
        assert done.exit_code == 2 and said in done.stderr


@pytest.mark.parametrize("closed", [(1,), (1, 2), (0, 1, 2)])
def test_closed_standard_streams_break_nothing_and_are_nobodys_file(tmp_path: Path, closed: tuple[int, ...]) -> None:
    told = tmp_path / "told"
    script = (
        "import os, sys; from gateway import cli\n"
        f"for number in {closed}: os.close(number)\n"
        f"sys.argv = ['vigia', 'init', {str(tmp_path / 'depot.toml')!r}, '--yes']\n"
        "try: cli.main()\n"
        "except SystemExit as end: code = end.code\n"
        f"open({str(told)!r}, 'w').write(f'{{code}} {{[os.readlink(f\"/proc/self/fd/{{n}}\") for n in {closed}]}}')\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    assert told.read_text() == f"0 {['/dev/null'] * len(closed)}"


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
@pytest.mark.parametrize("siren", [NOWHERE, Place("::1", 1502)])
def test_what_init_was_told_is_what_the_file_says(tmp_path: Path, language: str, law: str, siren: Place) -> None:
    file, name = tmp_path / "depot.toml", 'Gás "do Zé" \\ filhos'
    answers = Answers(name, 'Rua "A" 120', 12_480, law, Place("conversor.local", 5020), 3, siren)
    file.write_text(render(answers, language, file, Talk.of({"VIGIA_LANG": language})), "utf-8")
    found = load(file, {})
    depot = found.depot

    assert (depot.name, depot.id, depot.language) == (name, "gas-do-ze-filhos", language)
    assert depot.address == 'Rua "A" 120'
    assert depot.areas[0].licensed_kg == 12_480
    assert depot.laws == ((law,) if law else ())
    assert (depot.buses[0].settings.host, depot.buses[0].settings.port) == ("conversor.local", 5020)
    assert [head.unit for head in depot.buses[0].heads] == [1, 2, 3]
    assert [output.row.kind.value for output in depot.outputs] == (["siren"] if siren.host else [])
    assert [warning.wrong for warning in found.warnings if siren.host] == []


def test_where_there_is_no_room_init_leaves_no_half_file(tmp_path: Path, monkeypatch) -> None:
    file = tmp_path / "depot.toml"

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = vigia("init", file, "--yes")
    assert done.exit_code == 1 and "No space left" in done.stderr
    assert list(tmp_path.iterdir()) == []


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
    assert load(file, {}).depot.address == "", "it may be left out"
    assert vigia("init", tmp_path / "e.toml", *flags, "--address", "Rua B 7, fundos").exit_code == 0
    assert load(tmp_path / "e.toml", {}).depot.address == "Rua B 7, fundos"
    assert vigia("init", tmp_path / "f.toml", *flags, "--address", "x" * 301).exit_code == 2


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


def test_init_asks_seven_questions_at_a_terminal(tmp_path: Path) -> None:
    file = tmp_path / "depot.toml"
    here, there = os.openpty()
    asked = subprocess.Popen(
        [VIGIA, "init", file], stdin=there, stdout=there, stderr=there, env={**os.environ, **ENGLISH}
    )
    os.close(there)
    os.write(here, b"Norte\nRua C 9\nmuito\n6.240 kg\n-\n10.0.0.5\n6\n-\n")
    assert asked.wait(20) == 0
    os.close(here)

    depot = load(file, {}).depot
    assert depot.address == "Rua C 9"
    assert depot.areas[0].licensed_kg == 6240, "asked again after what is no number, and a point parts thousands"
    assert (depot.name, depot.buses[0].settings.host, len(depot.detectors)) == ("Norte", "10.0.0.5", 6)


@pytest.mark.parametrize(
    ("typed", "kg"),
    [("6.240", 6240), ("6,240", 6240), ("1.560,5 kg", 1560.5), ("520,5", 520.5), ("1234567", 1234567), ("99.5", 99.5)],
)
def test_init_takes_kilograms_as_people_write_them(tmp_path: Path, typed: str, kg: float) -> None:
    assert vigia("init", tmp_path / "depot.toml", "--yes", "--kg", typed).exit_code == 0
    assert load(tmp_path / "depot.toml", {}).depot.areas[0].licensed_kg == kg


def test_init_says_why_it_cannot_write(tmp_path: Path) -> None:
    done = vigia("init", tmp_path / "no" / "folder.toml", "--yes")

    assert done.exit_code == 1
    assert "No such file" in done.stderr


# --- check ---------------------------------------------------------------------------------------


def test_check_prints_what_each_output_does_at_what_happens(tmp_path: Path) -> None:
    file = contract(tmp_path)
    valve = 'kind = "valve"\nbus = "saidas"\nunit = 1\ncoil = 4\nareas = ["patio"]\nenergised = "normal"\n'
    file.write_text(f'{file.read_text("utf-8")}\n[[channel]]\nid = "valvula"\n{valve}', "utf-8")

    said = vigia("check", file).stdout
    (effects,) = [row for row in json.loads(vigia("check", file, "--json").stdout)["effects"] if row["kind"] == "valve"]

    assert re.search(r"^sirene +on +on +off +off +- +off +-$", said, re.MULTILINE)
    assert re.search(r"^valvula +on +on +- +- +- +off +-$", said, re.MULTILINE)
    assert "from A2, patio; only with 2 heads" in said and "without power: acts as in alarm" in said
    assert (effects["level"], effects["areas"], effects["votes"]) == ("A2", ["patio"], [2, 2])


@pytest.mark.parametrize(
    ("votes", "said"),
    [
        (
            "{ heads = 3, samples = 4 }",
            "3 heads, or 4 samples of one, in a row or at most 60 s apart (2 where it is at A3 or the only one)",
        ),
        ("{ heads = 1 }", "one sample of one head is enough"),
    ],
)
def test_check_says_what_a_costly_output_waits_for(tmp_path: Path, votes: str, said: str) -> None:
    file = contract(tmp_path)
    valve = f'kind = "valve"\nbus = "saidas"\nunit = 1\ncoil = 4\nenergised = "normal"\nvotes = {votes}\n'
    file.write_text(f'{file.read_text("utf-8")}\n[[channel]]\nid = "valvula"\n{valve}', "utf-8")

    assert said in vigia("check", file).stdout


def test_check_prints_the_count_and_each_budget_with_its_slow_part(tmp_path: Path) -> None:
    done = vigia("check", contract(tmp_path))

    assert done.exit_code == 0
    assert "3 detectors watched: 2 by Modbus on 1 line, 1 by MQTT." in done.stdout
    heads = ["GD-101", "GD-102", "GD-201"]
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == [*heads, "raised", "sirene", "siren", *heads]
    assert "2027-01-28, bump test never noted, function test never noted" in done.stdout
    assert "within 3 s" in done.stdout
    assert "slowest: wait for the poll" in done.stdout
    assert "warning: " not in done.stderr


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
    assert answer["warnings"] == []


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


def test_the_comments_of_the_unit_are_in_the_installers_language(tmp_path: Path) -> None:
    file = contract(tmp_path, "A1 = 10\n", "A1 = 10\n")
    for language, first in (("pt-BR", "# Escrito por `vigia service`. Para"), ("en", "# Written by `vigia service`.")):
        done = vigia(
            "service", file, environ={"VIGIA_LANG": language, "VIGIA_HOOK_SECRET": "x", "VIGIA_DC09_KEY": "00" * 16}
        )
        assert done.stdout.startswith(first)
        assert "{" not in done.stdout


def test_who_only_asks_about_a_depot_need_not_hold_its_secrets(tmp_path: Path) -> None:
    file = tmp_path / "depot.toml"
    file.write_text(CONTRACT + UNSET_HOOK, "utf-8")
    for name, *more in (("status",), ("ledger",), ("proof",), ("report", "--from", "2026-11-01", "--to", "2026-11-30")):
        done = vigia(name, file, *more)

        assert done.exit_code == 1, "it has not run yet"
        assert "VIGIA_UNSET" not in done.stderr, name
    for name in ("check", "run", "doctor"):
        assert vigia(name, file).exit_code == 78


UNSET_HOOK = """\
[[channel]]
id = "locked"
kind = "webhook"
url = "http://127.0.0.1:9/"
secret_env = "VIGIA_UNSET"
"""


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


def test_check_connect_names_the_hosts_that_do_not_answer(tmp_path: Path) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    up, down = listener.getsockname()[1], free_port()
    text = CONTRACT.replace("port = 5020", f"port = {up}").replace("port = 5021", f"port = {down}")
    file = tmp_path / "depot.toml"
    file.write_text(text.replace("port = 1883", f"port = {up}").replace(":9000", f":{up}"), "utf-8")
    done = vigia("check", file, "--connect")
    listener.close()

    assert done.exit_code == 1
    assert f"bus detectores: 127.0.0.1:{up} answers" in done.stdout
    assert f"bus saidas: 127.0.0.1:{down} does not answer (Connection refused); check cable" in done.stderr
    assert "mqtt" not in done.stderr
