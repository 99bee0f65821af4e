"""A connection to an MQTT broker: by which address, in which version of MQTT, held for as long as it is wanted."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import aiomqtt
from aiomqtt import Message, MqttError, ProtocolVersion
from aiomqtt.exceptions import MqttConnectError
from paho.mqtt.reasoncodes import ReasonCode

from sensors.drivers.broker import HungUpError, MqttSettings, NoAnswerError
from sensors.drivers.brokerclient import BrokerClient, Doorway
from sensors.drivers.names import Names


@asynccontextmanager
async def connected(
    settings: MqttSettings,
    receive: Callable[[Message], None],
    *,
    will: aiomqtt.Will | None = None,
    names: Names | None = None,
) -> AsyncIterator[BrokerClient]:
    """Hold a connection for the body, MQTT 5 where the broker knows it, else 3.1.1 (which cannot limit packets).

    A body left by an error or cancellation leaves the will to be published; there is no graceful way out of a watch.
    `names` remembers where the broker was, for whoever connects again and again.

    Raises:
        MqttError: if the broker cannot be reached or refuses us.
    """
    try:
        *others, last = await (names or Names()).find(settings.host, settings.port)
    except OSError as error:
        raise MqttError(f"no address of the broker: {error}") from error
    for place in others:
        try:
            connection = await _opened(replace(settings, host=place.host), receive, will)
            break
        except MqttError:
            continue
    else:
        connection = await _opened(replace(settings, host=last.host), receive, will)
    try:
        yield connection
    finally:
        connection.close(quietly=will is None)


async def _opened(
    settings: MqttSettings, receive: Callable[[Message], None], will: aiomqtt.Will | None
) -> BrokerClient:
    connection = BrokerClient(settings, version=ProtocolVersion.V5, will=will, door=Doorway(receive))
    try:
        await connection.open()
    except MqttError as error:
        if not _speaks_older(error):
            raise
        connection = BrokerClient(settings, version=ProtocolVersion.V311, will=will, door=Doorway(receive))
        await connection.open()
    return connection


def _speaks_older(error: MqttError) -> bool:
    """Tell whether a broker of MQTT 3.1.1 may take a CONNECT of MQTT 5 so: no word, hanging up, or saying it."""
    if isinstance(error, MqttConnectError):
        return isinstance(error.rc, ReasonCode) and error.rc.getName() == "Unsupported protocol version"
    return isinstance(error, HungUpError | NoAnswerError)
