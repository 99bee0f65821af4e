"""Outputs on their wires: one cell of a Modbus unit, or a command and a state topic of the broker. Knows no alarm.

What a broker has kept from before (a retained state) proves nothing about now and is never taken for a read-back.
"""

import asyncio
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Protocol

from aiomqtt import Message, MqttError

from sensors.drivers.broker import Backoff, Connect, MqttConnection, MqttSettings, reason_of
from sensors.drivers.brokerconnection import connected
from sensors.drivers.commands import Done
from sensors.drivers.modbus import ModbusBus
from sensors.drivers.names import Names
from sensors.stamps import SECOND, Clock
from sensors.wire.outputs import ForbiddenOutputError, MqttOutput, OutputPoint


class LineOutput:
    """An output of a Modbus unit."""

    def __init__(self, bus: ModbusBus, unit: int, point: OutputPoint) -> None:
        self._bus = bus
        self._unit = unit
        self._point = point

    def allows(self, on: bool) -> bool:
        """Whether it may be told this at all."""
        return _allows(self._point, on)

    def write(self, on: bool, done: Done) -> None:
        """Write and read back, ahead of all polls."""
        self._bus.write(self._unit, self._point, on, done)

    def read(self, done: Done) -> bool:
        """Read it, ahead of all polls."""
        self._bus.read(self._unit, self._point, done)
        return True


class Onlooker(Protocol):
    """Who wants to know of an output what it says unasked, and when its broker is back."""

    def heard(self, state: bool | None) -> None:
        """It said its state."""
        ...

    def look(self) -> None:
        """Its broker can be reached again, so it should be asked."""
        ...


class TopicOutput:
    """An output behind the broker: told by one topic, read back by another."""

    def __init__(self, point: MqttOutput, names: Mapping[str, str]) -> None:
        """`names` fill in the point's topics.

        Raises:
            TopicError: if one is missing.
        """
        self.state_topic = point.confirmed_on(names)
        self.listener: Onlooker | None = None
        self._point = point
        self._names = names
        self._question = point.question(names)
        self._connection: MqttConnection | None = None
        self._reason = "not-yet"
        self._waiting: Done | None = None

    def allows(self, on: bool) -> bool:
        """Whether it may be told this at all."""
        return _allows(self._point, on)

    def write(self, on: bool, done: Done) -> None:
        """Publish the command at QoS 1. `done` is called where that fails; the state that follows is `heard`.

        A device that says its state when asked is asked at once: many say nothing of a command to stay as they are.
        """
        topic, payload = self._point.message(self._names, on=on)
        self._publish(topic, payload, done)
        if self._question is not None and self._waiting is not None:
            self._publish(*self._question, done)

    def read(self, done: Done) -> bool:
        """Ask for the state, where the device answers questions; likewise."""
        if self._question is None:
            return False
        self._publish(*self._question, done)
        return True

    def connected(self, connection: MqttConnection) -> None:
        """The broker is there, and the state topic subscribed."""
        self._connection = connection
        if self.listener is not None:
            self.listener.look()

    def lost(self, reason: str) -> None:
        """The broker is gone: nothing is known of the device any more."""
        had, self._connection, self._reason = self._connection is not None, None, reason
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting(None, reason)
        elif had and self.listener is not None:
            self.listener.look()

    def said(self, payload: bytes) -> None:
        """The device spoke on its state topic. What means neither on nor off is not taken for an answer."""
        state = self._point.state(payload)
        if state is None:
            return
        self._waiting = None
        if self.listener is not None:
            self.listener.heard(state)

    def _publish(self, topic: str, payload: bytes, done: Done) -> None:
        if self._connection is None:
            done(None, self._reason)
            return
        self._waiting = done
        try:
            taken = self._connection.hand_over(topic, payload, retain=False)
        except MqttError as error:
            self._waiting = None
            done(None, reason_of(error))
            return
        taken.add_done_callback(self._acknowledged)

    def _acknowledged(self, taken: "asyncio.Future[None]") -> None:
        """A broker that refuses the command says so at once; one that takes it proves nothing yet."""
        if taken.cancelled() or taken.exception() is None:
            return
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting(None, "refused")


class OnTopic(Protocol):
    """What hangs on the broker by one topic that it speaks on."""

    @property
    def state_topic(self) -> str | None:
        """Where it speaks; None where it tells nothing."""
        ...

    def connected(self, connection: MqttConnection) -> None:
        """The broker is there, and the topic subscribed."""
        ...

    def lost(self, reason: str) -> None:
        """The broker is gone, or does not grant the topic."""
        ...

    def said(self, payload: bytes) -> None:
        """It spoke, just now."""
        ...


class Topics:
    """The one connection of all outputs and gauges behind the broker. `run` it; it ends only when cancelled.

    Attributes:
        dropped_retained: states that the broker had kept from before.
    """

    def __init__(
        self, settings: MqttSettings, outputs: Iterable[OnTopic], clock: Clock, connect: Connect | None = None
    ) -> None:
        """`connect` holds a connection to the broker, where it is not to be the network's."""
        self.dropped_retained = 0
        self._settings = settings
        self._connect: Connect = connect or partial(connected, names=Names())
        self._clock = clock
        self._outputs = tuple(outputs)
        self._by_topic: dict[str, list[OnTopic]] = {}
        for output in self._outputs:
            if output.state_topic is not None:
                self._by_topic.setdefault(output.state_topic, []).append(output)

    async def run(self) -> None:
        """Stay connected and subscribed until cancelled."""
        backoff = Backoff()
        while True:
            began = self._clock.now().mono
            try:
                async with self._connect(self._settings, self._receive) as connection:
                    began = self._clock.now().mono
                    await self._begin(connection)
                    await connection.lost()
            except MqttError as error:
                for output in self._outputs:
                    output.lost(reason_of(error))
                await asyncio.sleep(backoff.after((self._clock.now().mono - began) / SECOND))
            finally:
                for output in self._outputs:
                    output.lost("closed")

    async def _begin(self, connection: MqttConnection) -> None:
        topics = list(self._by_topic)
        granted = dict(zip(topics, await connection.ask_for(topics), strict=True))  # bounded by the outputs of one file
        for output in self._outputs:
            if output.state_topic is not None and granted[output.state_topic]:
                output.connected(connection)
            else:
                output.lost("not-authorised")

    def _receive(self, message: Message) -> None:
        if message.retain:
            self.dropped_retained += 1
            return
        for output in self._by_topic.get(str(message.topic), ()):
            output.said(bytes(message.payload))


def _allows(point: OutputPoint | MqttOutput, on: bool) -> bool:
    try:
        point.habits.allow(on=on)
    except ForbiddenOutputError:
        return False
    return True
