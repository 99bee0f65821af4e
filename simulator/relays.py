"""A relay behind the broker: obeys its command topic and says its state, or does as its faults say."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

from simulator.memory_broker import MemoryBroker

DEAF: Final = frozenset({"silent", "exception", "wrong_unit", "refuses_writes"})
"""Faults of boards after which this one does nothing and says nothing."""

UNMOVED: Final = frozenset({"stuck", "crossed"})


class Relay:
    """One device. It keeps its state at the broker too, as many do.

    Attributes:
        changes: what its faults come to (`simulator.mishaps`).
    """

    def __init__(self, topic: str, broker: MemoryBroker, told: Callable[[bool], None]) -> None:
        self.changes: Mapping[str, Any] = {}
        self.on = False
        self._topic = topic
        self._broker = broker
        self._told = told
        self._drops: asyncio.TimerHandle | None = None
        broker.devices[f"{topic}/set"] = self._hear

    def switch(self, on: bool) -> None:
        """It is brought to this state, by whomever, and says so."""
        if on is not self.on:
            self.on = on
            self._told(on)
        payload = b"1" if on else b"0"
        self._broker.keep(self._topic, payload)
        self._broker.publish(self._topic, payload)

    def _hear(self, payload: bytes) -> None:
        delay_s = self.changes.get("delay_s", 0.0)
        asyncio.get_running_loop().call_later(0.01 + delay_s, self._obey, payload == b"1")

    def _obey(self, on: bool) -> None:
        if self.changes.keys() & DEAF:
            return
        self.switch(self.on if self.changes.keys() & UNMOVED else on)
        if self._drops is not None:
            self._drops.cancel()
        if on and "let_go_s" in self.changes:
            self._drops = asyncio.get_running_loop().call_later(self.changes["let_go_s"], self.switch, False)
