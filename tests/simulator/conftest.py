"""What tests of the simulator share."""

from collections.abc import Iterator

import pytest

from simulator.children import Children


@pytest.fixture
def children() -> Iterator[Children]:
    with Children() as kept:
        yield kept


@pytest.fixture
def broker_port(children: Children) -> int:
    return children.start("the broker", "-m", "simulator.broker", pipes=True).ports()["mqtt"]
