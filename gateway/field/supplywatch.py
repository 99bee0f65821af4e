"""Asks mains and batteries how they are, over their lines and their broker. Judges nothing."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from gateway.engine.events import SystemCondition
from gateway.engine.supplies import Supply, SupplySight
from sensors.drivers.broker import MqttConnection
from sensors.drivers.modbus import ModbusBus
from sensors.stamps import Clock
from sensors.wire.gauges import PayloadGauge, RegisterGauge


class SupplyWatch:
    """Asks one supply again and again, and tells. `run` it; it ends only when cancelled."""

    def __init__(
        self, supply: Supply, bus: ModbusBus | None, clock: Clock, tell: Callable[[SystemCondition], None]
    ) -> None:
        self._supply = supply
        self._bus = bus
        self._clock = clock
        self._tell = tell
        self._sight = SupplySight(supply, clock.now().mono)
        self._asking = False
        self._failures = 0

    def topics(self) -> Sequence["TopicGauge"]:
        """What must hang on the broker for it."""
        gauges = self._supply.gauges.items()
        return [
            TopicGauge(gauge, partial(self._heard, name)) for name, gauge in gauges if isinstance(gauge, PayloadGauge)
        ]

    async def run(self) -> None:
        """Ask every `check_s`, and look each second at what has become old."""
        pause = min(1.0, self._supply.check_s)
        left = 0.0
        while True:
            if left <= 0:
                left = self._supply.check_s
                self._ask()
            self._look()
            await asyncio.sleep(pause)
            left -= pause

    def _ask(self) -> None:
        """Ask one gauge after the other, as long as it answers: a mute one costs its line one wait and no more.

        Once it was silent it is asked now in an idle gap, now ahead of the polls: neither a mute supply may take the
        heads of its line their turns, nor a line that never rests the supply its own.
        """
        gauges = [(name, gauge) for name, gauge in self._supply.gauges.items() if isinstance(gauge, RegisterGauge)]
        if gauges and not self._asking:
            self._asking = True
            self._ask_next(gauges)

    def _ask_next(self, gauges: Sequence[tuple[str, RegisterGauge]]) -> None:
        (name, gauge), *rest = gauges

        def heard(trouble: bool | None, reason: str) -> None:
            self._failures = self._failures + 1 if trouble is None else 0
            self._heard(name, trouble, reason)
            self._asking = bool(rest) and trouble is not None
            if self._asking:
                self._ask_next(rest)

        assert self._bus is not None, "a gauge of registers hangs on a line"
        self._bus.glance(self._supply.unit, gauge, heard, first=self._failures % 2 == 0)

    def _heard(self, gauge: str, trouble: bool | None, reason: str) -> None:
        self._sight.heard(gauge, trouble, reason, self._clock.now().mono)
        self._look()

    def _look(self) -> None:
        for condition in self._sight.look(self._clock.now()):
            self._tell(condition)


class TopicGauge:
    """A gauge behind the broker."""

    def __init__(self, gauge: PayloadGauge, heard: Callable[[bool | None, str], None]) -> None:
        self.state_topic: str | None = gauge.topic
        self._gauge = gauge
        self._heard = heard

    def connected(self, connection: MqttConnection) -> None:  # noqa: ARG002 - it asks nothing
        """The broker is there: from now on the device itself is waited for."""
        self._heard(None, "never-heard")

    def lost(self, reason: str) -> None:
        """The broker is gone."""
        self._heard(None, reason)

    def said(self, payload: bytes) -> None:
        """It spoke, just now."""
        trouble = self._gauge.said(payload)
        if trouble is not None:
            self._heard(trouble, "")
