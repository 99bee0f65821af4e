"""A file that a person asked for is there whole, or what stood there before is."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.machine.wholefile import whole


def test_a_file_is_put_in_place_when_it_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    with whole(file) as out:
        out.write(b"one")
        assert not file.exists()
    file.chmod(0o640)
    with whole(file) as out:
        out.write(b"two")
        assert file.read_bytes() == b"one"
    assert file.read_bytes() == b"two"
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [file]


def half_written(file: Path) -> None:
    with whole(file) as out:
        out.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_what_cannot_be_written_leaves_what_was_there_and_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(b"one")
    with pytest.raises(OSError, match=r"a\.csv") as told:
        half_written(file)
    assert told.value.errno == errno.ENOSPC
    assert file.read_bytes() == b"one" and list(tmp_path.iterdir()) == [file]
    with pytest.raises(FileNotFoundError) as told, whole(tmp_path / "nowhere" / "b.csv"):
        pytest.fail("there is nothing to write into")
    assert told.value.filename == str(tmp_path / "nowhere" / "b.csv")
    with pytest.raises(IsADirectoryError), whole(tmp_path):
        pytest.fail("there is nothing to write into")


def test_a_link_is_followed_and_a_pipe_is_written_as_it_is(tmp_path: Path) -> None:
    file, link, pipe = tmp_path / "a.csv", tmp_path / "latest.csv", tmp_path / "pipe"
    file.write_bytes(b"one")
    link.symlink_to(file)
    with whole(link) as out:
        out.write(b"two")
    assert link.is_symlink() and file.read_bytes() == b"two"
    os.mkfifo(pipe)
    script = "import sys; from pathlib import Path; print(Path(sys.argv[1]).read_text())"
    with subprocess.Popen([sys.executable, "-c", script, pipe], stdout=subprocess.PIPE) as reader:
        with whole(pipe) as out:
            out.write(b"three")
        assert reader.communicate(timeout=10)[0] == b"three\n"
    assert pipe.is_fifo()
