"""Of one depot there is one office."""

import socket
from pathlib import Path

import pytest
from depot_text import SMALLEST

from gateway.configuration.loading import load
from gateway.office.child import EXIT_FAILED, main


def test_a_second_office_is_refused_and_touches_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "depot.toml"
    file.write_text(SMALLEST, encoding="utf-8")
    path = load(file, {}).depot.office
    path.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as first:  # it may be stopped: the kernel answers for it
        first.bind(str(path))
        first.listen()
        assert main([str(file)]) == EXIT_FAILED
        assert "another office is running there" in capsys.readouterr().err
        assert path.is_socket()
    assert [one.name for one in path.parent.iterdir()] == [path.name]
