"""Asks edge nodes of Sparkplug for their births: after each connection, and whenever one of their heads misses them."""

import asyncio
from collections.abc import Iterable
from typing import Final

from sensors.drivers.broker import MqttConnection
from sensors.stamps import MILLISECOND, Clock
from sensors.wire.listener import Listener
from sensors.wire.sparkplug import EdgeSession, rebirth

AGAIN_S: Final = 10.0
"""One node is asked no more often than this: its births may be long, and take it time."""


class Births:
    """The edge nodes of some heads. Works between `begin` and `end`, which belong to one connection.

    Attributes:
        asked: how often a node was asked, since the start.
    """

    def __init__(self, ears: Iterable[Listener], clock: Clock) -> None:
        self.asked = 0
        self._clock = clock
        self._nodes: dict[str, list[EdgeSession]] = {}
        for ear in ears:
            if ear.edge is not None:
                self._nodes.setdefault(ear.edge.address.command, []).append(ear.edge)
        self._connection: MqttConnection | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._since: dict[str, float] = {}

    def forget(self) -> None:
        """Before the first message of a connection: what was missed in between is not kept by the broker."""
        for sessions in self._nodes.values():
            for session in sessions:
                session.forget()

    def begin(self, connection: MqttConnection) -> None:
        """Ask every node whose birth has not come by itself, now and again."""
        if self._nodes:
            self._connection = connection
            self._since.clear()
            self._again()

    def end(self) -> None:
        """Ask no more."""
        self._connection = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def look(self, ears: Iterable[Listener]) -> None:
        """Ask the node of these heads if one of them misses births and it was not asked just now."""
        for ear in ears:
            if ear.edge is not None and ear.edge.wants_birth:
                self._ask(ear.edge.address.command)

    def _again(self) -> None:
        for command, sessions in self._nodes.items():
            if any(session.wants_birth for session in sessions):
                self._ask(command)
        self._timer = asyncio.get_running_loop().call_later(AGAIN_S, self._again)

    def _ask(self, command: str) -> None:
        now = asyncio.get_running_loop().time()
        if self._connection is None or now - self._since.get(command, -AGAIN_S) < AGAIN_S:
            return
        self._since[command] = now
        utc_ms = self._clock.now().utc // MILLISECOND
        self.asked += self._connection.hand_over_unconfirmed(command, rebirth(utc_ms), retain=False)
