"""The office in virtual time: gate, intake, clerk, books and judge are the gateway's own.

Between it and the watch lies no socket, and what it does aside it does at once. Nobody comes through a door: people ask
the clerk.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from dashboards.office import Breach, File, Judged, Paper
from dashboards.ports import Answer
from gateway.depot import Depot
from gateway.filing import Filing
from gateway.machine.sockets import ControlError
from gateway.office.clerk import WRITTEN_WITHIN_S, Clerk
from gateway.office.desk import Desk
from gateway.office.gate import Gate
from gateway.office.law import Law
from gateway.office.watchline import UnsettledError
from gateway.runtime import Part
from sensors.drivers.broker import Connect
from sensors.stamps import Clock

T = TypeVar("T")


class Hatch:
    """The line to the watch, without a socket; what it says of a filing is what `WatchLine` says."""

    def __init__(self, filing: Filing) -> None:
        self._filing = filing
        self._open: asyncio.Future[Answer] | None = None
        self._begun = False

    async def settle(self) -> None:
        """Wait for what became of the last filing.

        Raises:
            ControlError: it is still not known.
        """
        if self._open is None:
            if self._begun:
                return
            self._send("", ())
        try:
            answer = await self._answer()
        except UnsettledError as error:
            raise ControlError("the filing before this one is not settled yet") from error
        self._begun = self._begun or answer.ok
        if not self._begun:
            raise ControlError(f"the watch is not ready: {answer.error}")

    async def file(self, by: str, papers: tuple[Paper, ...]) -> None:
        """Have papers written in one transaction.

        Raises:
            UnsettledError: it may still come to be entered.
            ControlError: it is not entered.
        """
        await self.settle()
        self._send(by, papers)
        answer = await self._answer()
        if not answer.ok:
            raise ControlError(f"the watch did not take it: {answer.error} {answer.detail}".strip())

    async def judged(self, breaches: tuple[Breach, ...]) -> bool:
        """Tell which conditions of the law stand."""
        heard: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._filing.take(msgspec.json.decode(msgspec.json.encode(Judged(1, breaches)), type=Judged), _once(heard))
        return heard.result().ok

    def _send(self, by: str, papers: tuple[Paper, ...]) -> None:
        self._open = asyncio.get_running_loop().create_future()
        self._filing.take(msgspec.json.decode(msgspec.json.encode(File(1, by, papers)), type=File), _once(self._open))

    async def _answer(self) -> Answer:
        assert self._open is not None
        try:
            async with asyncio.timeout(WRITTEN_WITHIN_S):
                answer = await asyncio.shield(self._open)
        except TimeoutError:
            raise UnsettledError("not settled") from None
        self._open = None
        return answer


class Gatehouse:
    """One office, from its opening to its end. `law` is read once for all; `filing` is the watch's, and outlives it."""

    def __init__(self, depot: Depot, law: Law, clock: Clock, filing: Filing, connect: Connect) -> None:
        self.clerk = Clerk(depot, Hatch(filing), clock, _at_once, law)
        parts: list[tuple[str, Part]] = [("judge", self.clerk.judge_for_ever)]
        if depot.mqtt is not None and depot.stock_sources:
            gate = Gate(depot.mqtt, depot.stock_sources, self.clerk.take, clock, connect)
            parts += [("gate", gate.listen), ("gate entries", gate.enter)]
        self.parts: Sequence[tuple[str, Part]] = parts

    @property
    def desk(self) -> Desk:
        """Its registers, as it read them last."""
        return self.clerk.books.desk

    def catch_up(self) -> None:
        """Read what the journal holds by now.

        Raises:
            StoreError: it cannot be read.
        """
        self.clerk.books.catch_up()


async def _at_once(work: Callable[..., T], /, *given: Any) -> T:  # noqa: ANN401 - whatever the work takes
    return work(*given)


def _once(answer: asyncio.Future[Answer]) -> Callable[[Answer], None]:
    def reply(told: Answer) -> None:
        if not answer.done():
            answer.set_result(told)

    return reply
