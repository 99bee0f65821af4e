"""The office under blows: large depots, nonsense and odd days leave it answering and its findings kept."""

import asyncio

import pytest
from whole_depot import Whole
from whole_office import asked, opened

from dashboards.office import Look

pytestmark = pytest.mark.asyncio

EVERY_LAW = """laws = ["ferraz-de-vasconcelos-3190-2013", "campina-grande-do-sul-15-2002", "paraiba-9427-2011",
  "nbr-15514-2020-reference"]"""


def area(number: int) -> str:
    return f'\n[[area]]\nid = "patio-{number}"\nlicensed_kg = 6240\n'


async def test_the_findings_of_a_large_depot_under_every_law_are_kept(depot: Whole) -> None:
    depot.changes = {'laws = ["ferraz-de-vasconcelos-3190-2013"]': EVERY_LAW}
    depot.extra += "".join(map(area, range(4)))
    await depot.start()
    await opened(depot)
    async with asyncio.timeout(30):
        while True:
            found = (await asked(depot, Look(1, "findings"))).data["findings"]
            told = [one for one in found if one["verdict"] != "NOT_APPLICABLE"]
            if all(one["since"] for one in told):
                break
            await asyncio.sleep(0.2)
    assert len(told) > 500  # more than one entry of the journal holds
    assert "Traceback" not in depot.log()
    await depot.stop()
    depot.sound()
