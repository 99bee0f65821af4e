"""A depot.toml that is read in a process of its own says the same, and leaves nothing of the reading behind."""

import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from depot_text import BASE, ENGLISH, problems

from gateway.configuration import apart
from gateway.configuration.apart import load_apart
from gateway.configuration.loading import load
from gateway.configuration.problems import ConfigError

HEAVY = ("pydantic", "rich", "pygments", "aiohttp", "fastapi", "gateway.configuration.loading")
"""What only reading a file, drawing on a terminal, a database, a webhook or a page needs."""


def test_a_depot_read_apart_is_the_depot_read_here() -> None:
    environ = ENGLISH | {"VIGIA_HOOK_SECRET": "segredo"}
    file = Path(__file__).parents[1] / "contract.toml"
    assert load_apart(file, environ) == load(file, environ)


def test_every_problem_comes_back_in_the_persons_language(tmp_path: Path) -> None:
    text = BASE.replace("A1 = 10", "A1 = 95")
    here = problems(tmp_path, text)
    with pytest.raises(ConfigError) as refused:
        load_apart(tmp_path / "depot.toml", ENGLISH)
    assert refused.value.problems == here


@pytest.mark.parametrize("command", ["/nowhere/python", "/bin/false", "/bin/echo"])
def test_without_a_process_that_answers_it_is_read_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    file = tmp_path / "depot.toml"
    file.write_text(BASE, encoding="utf-8")
    monkeypatch.setattr(apart.sys, "executable", command)
    assert load_apart(file, ENGLISH) == load(file, ENGLISH)


@pytest.mark.parametrize("program", ["gateway.machine.logs, gateway.app, gateway.budget", "gateway.office.child"])
def test_what_runs_for_years_loads_nothing_that_it_does_not_need(program: str, tmp_path: Path) -> None:
    file = tmp_path / "depot.toml"
    file.write_text(BASE, encoding="utf-8")
    script = (
        f"import sys, pathlib, {program}\n"
        "from gateway.configuration.apart import load_apart\n"
        f"load_apart(pathlib.Path({str(file)!r}), {{}})\n"
        f"sys.exit(', '.join(sorted(set({HEAVY!r}) & set(sys.modules))) or 0)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_reader_whose_asker_has_gone_ends_without_a_word(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "gateway.configuration.apart"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        _, said = process.communicate(pickle.dumps((tmp_path / "depot.toml", {})), 20)
    assert said == b""


@pytest.mark.parametrize("asked", [b"", pickle.dumps((Path("depot.toml"), {}))[:-7]])
def test_a_reader_who_is_asked_nothing_whole_ends_without_a_word(asked: bytes) -> None:
    command = [sys.executable, "-m", "gateway.configuration.apart"]
    ran = subprocess.run(command, input=asked, capture_output=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
