"""A test that measures in real time is tried again, and one that never holds fails all the same."""

import subprocess
import sys
from pathlib import Path

CONFTEST = Path(__file__).with_name("conftest.py")

CASES = """
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def tries(name):
    with (HERE / "order").open("a") as file:
        print(name, file=file)
    return (HERE / "order").read_text().split().count(name)


@pytest.mark.measured
def test_holds_at_the_third_try(tmp_path):
    assert tries("third") == 3


@pytest.mark.measured
async def test_never_holds():
    assert tries("never") == 0


def test_is_not_marked():
    assert tries("unmarked") == 2
"""


def test_the_best_of_three_tries_counts_those_at_the_end_and_the_summary_names_the_others(tmp_path: Path) -> None:
    (tmp_path / "test_cases.py").write_text(CASES)
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text())
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\nmarkers = measured\n"
        f"pythonpath = {CONFTEST.parent}\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", str(tmp_path)]
    ran = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 1
    assert ran.stdout.splitlines()[-1].startswith("2 failed, 1 passed in ")
    assert (tmp_path / "order").read_text().split() == ["third", "never", "unmarked", *2 * ["third", "never"]]
    again = [line for line in ran.stdout.splitlines() if line.startswith("test_cases.py::")]
    names = ["test_cases.py::test_holds_at_the_third_try", "test_cases.py::test_never_holds"]
    assert [line.partition(": ")[0] for line in again] == 2 * names
