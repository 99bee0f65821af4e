"""The office as far as it counts, in virtual time: gate, intake, desk and filing are the gateway's own.

Between them lies no socket, and nothing judges: `gateway.office.clerk` and `watchline` do in the office what this does.
"""

import asyncio
from collections.abc import Callable, Sequence
from zoneinfo import ZoneInfo

import msgspec

from compliance.registers.entries import Millis
from compliance.registers.forms import Form
from dashboards.office import File, paper
from dashboards.ports import Answer
from gateway.depot import Depot
from gateway.filing import Filing
from gateway.hands import Hands
from gateway.journal.errors import StoreError
from gateway.journal.reader import JournalReader
from gateway.office import entries as kept
from gateway.office import parts
from gateway.office.clerk import WRITTEN_WITHIN_S
from gateway.office.counting import StockSource
from gateway.office.desk import Desk
from gateway.office.gate import Gate
from gateway.office.intake import Intake
from gateway.runtime import Part
from sensors.drivers.broker import Connect, MqttSettings
from sensors.stamps import MILLISECOND, Clock


class BusyError(Exception):
    """The journal has not said yet that it holds the last filing."""


class Gatehouse:
    """One office, from its opening to its end. `forms` are read once for all."""

    def __init__(
        self, depot: Depot, settings: MqttSettings, forms: dict[str, Form], clock: Clock, hands: Hands, connect: Connect
    ) -> None:
        self.depot = depot
        self.desk = Desk(forms, (area.id for area in depot.areas))
        self.zone = ZoneInfo(depot.timezone)
        self._forms = forms
        self._journal = depot.journal
        self._clock = clock
        loop = asyncio.get_running_loop()
        self._filing = Filing(clock, hands.hear, loop.call_soon)
        hands.written = self._filing.committed
        self._open: asyncio.Future[Answer] | None = None
        self._read_to = -1
        gate = Gate(settings, depot.stock_sources, self._take, clock, connect)
        self._intake = Intake(depot, self, self._write)
        self.parts: Sequence[tuple[str, Part]] = (("gate", gate.listen), ("gate entries", gate.enter))

    def catch_up(self) -> None:
        """Read what the journal holds by now.

        Raises:
            StoreError: it cannot be read.
        """
        with JournalReader(self._journal) as journal:
            for idx, body, by in journal.filed(kept.KIND, self._read_to):
                self._read_to = idx
                self.desk.keep(kept.entries(body, self._forms, by))

    async def _take(self, source: StockSource, payload: bytes) -> None:
        try:
            await self._settle()
            self.catch_up()
            now = Millis(self._clock.now().utc // MILLISECOND)
            await self._intake.heard(source, payload, self.desk.told_at(now))
        except (BusyError, StoreError):
            return  # its next message tells it again

    async def _write(self, by: str, lines: Sequence[kept.Line], now: Millis) -> None:
        papers = tuple(paper(kept.KIND, kept.body(some, now)) for some in parts.of_entries(lines))
        ask = msgspec.json.decode(msgspec.json.encode(File(1, by, papers)), type=File)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open = answer
        self._filing.take(ask, _once(answer))
        await self._settle()
        if not answer.result().ok:
            raise BusyError(answer.result().error)

    async def _settle(self) -> None:
        """Wait for what became of the last filing.

        Raises:
            BusyError: it is still not known.
        """
        if self._open is None:
            return
        try:
            async with asyncio.timeout(WRITTEN_WITHIN_S):
                await asyncio.shield(self._open)
        except TimeoutError:
            raise BusyError("not settled") from None
        self._open = None


def _once(answer: "asyncio.Future[Answer]") -> Callable[[Answer], None]:
    def reply(told: Answer) -> None:
        if not answer.done():
            answer.set_result(told)

    return reply
