"""The counters at the gates of a drawn depot: each counts up as containers pass, and says so over the broker."""

import json
from collections.abc import Sequence
from typing import Final

from simulator.draws import DrawnGate
from simulator.memory_broker import MemoryBroker
from simulator.pipes import NetLoop
from simulator.stock import FIRST_COUNT, Stock

REPEATS_S: Final = 60.0
"""How often it says its count though nothing has passed."""


class Turnstiles:
    """All of them. The broker keeps what each said last."""

    def __init__(self, gates: Sequence[DrawnGate], broker: MemoryBroker, stock: Stock, loop: NetLoop) -> None:
        self._topics = {gate.id: gate.topic for gate in gates}
        self._counts = dict.fromkeys(self._topics, FIRST_COUNT)
        self._broker = broker
        self._stock = stock
        self._loop = loop
        self._said = 0

    def begin(self) -> None:
        """They are switched on."""
        for gate in self._topics:
            self._repeat(gate)

    def passes(self, gate: str, units: int) -> None:
        """So many containers pass at once."""
        self._counts[gate] += units
        self._say(gate)

    def _repeat(self, gate: str) -> None:
        self._say(gate)
        self._loop.call_later(REPEATS_S, self._repeat, gate)

    def _say(self, gate: str) -> None:
        self._said += 1
        self._stock.counted(self._loop.time(), gate, self._counts[gate])
        payload = json.dumps({"count": self._counts[gate], "seq": self._said}).encode()
        if not (self._broker.gone or self._broker.mute):
            self._broker.keep(self._topics[gate], payload)
        self._broker.publish(self._topics[gate], payload)
