"""Clocks, readings and real databases for the stores."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import Influx1, Victoria
from recorded import ROOMY, HandClock

from gateway.store.spool import Spool


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def influx1(tmp_path: Path) -> Iterator[Influx1]:
    """A running InfluxDB 1 with the database ``vigia``."""
    server = Influx1(tmp_path / "influx")
    server.start()
    server.create()
    yield server
    server.stop()


@pytest.fixture
def victoria(tmp_path: Path) -> Iterator[Victoria]:
    """A running VictoriaMetrics."""
    server = Victoria(tmp_path / "victoria")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    opened = Spool(tmp_path / "influx.db", ROOMY)
    yield opened
    opened.close()
