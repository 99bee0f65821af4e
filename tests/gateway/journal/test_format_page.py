"""The verifier printed in docs/journal-format.md works, and finds what it should."""

import re
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from gateway.journal import JournalReader

PAGE = Path(__file__).parents[3] / "docs" / "journal-format.md"


@pytest.fixture
def verify(tmp_path, path):
    (source,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    script = tmp_path / "verifier.py"
    script.write_text(source, encoding="utf-8")

    def run(*arguments):
        # -I: isolated, so that nothing of ours can be imported
        done = subprocess.run(
            [sys.executable, "-I", script, path, *arguments], capture_output=True, text=True, check=False, timeout=30
        )
        assert done.stderr == ""
        return done.returncode, done.stdout.strip()

    return run


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 16, 45])
def test_the_printed_verifier_finds_a_journal_sound(verify, path, write, record, count):
    write(*(record(seq, person="Ana") for seq in range(1, count + 1)))
    with JournalReader(path) as reader:
        root = reader.root(2 * count).hex()
        earlier = (str(count), reader.root(count).hex()) if count else ()
    assert verify(*earlier) == (0, f"deposito-centro: {2 * count} entries, root {root}: sound")


def test_the_printed_verifier_finds_a_rewritten_journal_by_a_noted_root(verify, path, write, record):
    write(*(record(seq) for seq in range(1, 10)))
    assert verify("10", "00" * 32) == (1, "the root over 10 entries is not the one noted")


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        (
            "UPDATE entry SET bytes = (SELECT bytes FROM entry WHERE idx = 6) WHERE idx = 4",
            "level 0 that ends at entry 4",
        ),
        ("DELETE FROM entry WHERE idx = 5", "entry 5 is missing"),
        ("UPDATE node SET hash = zeroblob(32) WHERE pos = 2", "level 1 that ends at entry 1 differs"),
        ("UPDATE head SET root = zeroblob(32)", "do not lead to the head"),
    ],
)
def test_the_printed_verifier_finds_tampering(verify, path, write, record, statement, found):
    write(*(record(seq) for seq in range(1, 10)))
    db = apsw.Connection(str(path))
    db.execute(statement)
    db.close()
    code, shown = verify()
    assert code == 1
    assert found in shown
