"""aiomqtt's client of one MQTT broker: made within a bound, always closed, never half alive. Knows no reading."""

import asyncio
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, cast

import aiomqtt
from aiomqtt import Message, MqttCodeError, MqttError, ProtocolVersion
from paho.mqtt import MQTTException
from paho.mqtt.client import (
    MQTT_CLEAN_START_FIRST_ONLY,
    MQTT_ERR_NO_CONN,
    MQTT_ERR_QUEUE_SIZE,
    ConnectFlags,
    DisconnectFlags,
)
from paho.mqtt.client import Client as PahoClient
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from sensors.drivers.broker import KEEPALIVE_S, HungUpError, MqttSettings, NoAnswerError
from sensors.drivers.publications import REFUSED_FROM, Publications
from sensors.drivers.sharedsocket import SharedSocket

CONNECT_TIMEOUT_S = 1.5
HANDSHAKE_TIMEOUT_S = 1.5
MAX_UNACKNOWLEDGED = 100
"""Publications under way at once; one more is refused on the spot."""
READ_AT_ONCE = 4096

_SOCKET_OPTIONS = (
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
    (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 3000),
)


class Doorway(asyncio.Queue[Message]):
    """The queue aiomqtt puts messages into, which keeps none: each is handed on in the same step.

    So nothing can lag or pile up inside the process; when messages come faster than they can be judged, TCP holds
    them back and the broker's own bound applies.
    """

    def __init__(self, receive: Callable[[Message], None]) -> None:
        super().__init__()
        self._receive = receive
        self.jammed = False

    def put_nowait(self, item: Message) -> None:
        """Hand the message on. `jammed` stays set if the receiver raised: aiomqtt takes that for a lost connection."""
        self.jammed = True
        self._receive(item)
        self.jammed = False


class BrokerClient(aiomqtt.Client):
    """aiomqtt's client, with three things added.

    An attempt that fails or is cancelled leaves no thread, task or socket behind; a broker that hangs up during the
    handshake is noticed at once; and publications are packets of our own, at QoS 1 taken once their PUBACK says so.
    """

    def __init__(
        self, settings: MqttSettings, *, version: ProtocolVersion, will: aiomqtt.Will | None, door: Doorway
    ) -> None:
        five = version is ProtocolVersion.V5
        super().__init__(
            settings.host,
            settings.port,
            username=settings.username,
            password=settings.password,
            identifier=settings.client_id,
            protocol=version,
            clean_session=None if five else True,
            clean_start=True if five else MQTT_CLEAN_START_FIRST_ONLY,
            properties=_connect_properties(settings) if five else None,
            keepalive=KEEPALIVE_S,
            timeout=HANDSHAKE_TIMEOUT_S,
            will=will,
            # aiomqtt makes one queue, here in its constructor; this one is already made.
            queue_type=cast("type[asyncio.Queue[Message]]", lambda maxsize: door),  # noqa: ARG005
            max_queued_outgoing_messages=MAX_UNACKNOWLEDGED,
            socket_options=_SOCKET_OPTIONS,
        )
        self.pending_calls_threshold = MAX_UNACKNOWLEDGED
        self.limits_packets = five
        self._door = door
        self._client.connect_timeout = CONNECT_TIMEOUT_S
        self._reached = False
        self._opening = False
        self._attempt_over = False
        self._given_up = False
        self._publications = Publications(five=five, most=MAX_UNACKNOWLEDGED)
        self._socket = SharedSocket(self._client, self._loop)
        self._reading = False
        self._gathered: list[bytes] | None = None

    async def open(self) -> None:
        """Connect and shake hands.

        Raises:
            MqttError: if that fails or takes longer than `CONNECT_TIMEOUT_S` and `HANDSHAKE_TIMEOUT_S`.
        """
        self._opening = True
        opened = False
        try:
            with _cancellable():
                await super().__aenter__()
            opened = True
        except MqttError as error:
            if self._reached and type(error) is MqttError:
                raise NoAnswerError("no answer to the CONNECT") from None
            raise
        finally:
            self._opening = False
            if not opened:
                # aiomqtt's attempt may still be running in its thread: what it brings is closed when it comes.
                self._given_up = True
                if self._attempt_over:
                    self.close(quietly=True)

    def close(self, *, quietly: bool) -> None:
        """Close the socket. Quietly: the broker discards the last will; otherwise it publishes it."""
        if quietly:
            self._client.disconnect()
            self._client.loop_write()
        self._client._sock_close()  # noqa: SLF001  # paho has no other way to close without a farewell
        if self._disconnected.done() and not self._disconnected.cancelled():
            self._disconnected.exception()  # retrieved here, so that nobody warns that nobody did

    async def ask_for(self, topics: Sequence[str]) -> list[bool]:
        """Subscribe at QoS 1 to a few topics; tell for each whether the broker grants it.

        Retained messages are asked for, so that they are counted and seen to be old; live ones come unmarked.

        Raises:
            MqttError: if the broker does not answer in time.
        """
        options = SubscribeOptions(qos=1, retainAsPublished=False)
        with _cancellable():
            if self.limits_packets:
                granted = await self.subscribe([(topic, options) for topic in topics])
            else:
                granted = await self.subscribe([(topic, 1) for topic in topics])
        return [(code.value if isinstance(code, ReasonCode) else code) < REFUSED_FROM for code in granted]

    async def lost(self) -> NoReturn:
        """Wait until the connection is lost.

        Raises:
            MqttError: always, when it is.
            Exception: what the receiver of a message raised.
        """
        try:
            async for _ in self.messages:
                raise AssertionError("the doorway keeps no message")
        except MqttError as error:
            if self._door.jammed and error.__cause__ is not None:
                raise error.__cause__ from None
            raise
        raise AssertionError("the stream of messages ends only by an error")

    def hand_over(self, topic: str, payload: bytes, *, retain: bool) -> "asyncio.Future[None]":
        """Publish at QoS 1. The future ends with the PUBACK; the caller sets its deadline and cancels it after that.

        It fails with MqttError if the connection is lost, with `PublishRefusedError` if the broker refuses the message.

        Raises:
            MqttError: if there is no connection any more, or too much is under way.
        """
        sock = self._client.socket()
        if sock is None or self._disconnected.done():
            raise MqttCodeError(MQTT_ERR_NO_CONN)
        if len(self._publications) >= MAX_UNACKNOWLEDGED:
            raise MqttCodeError(MQTT_ERR_QUEUE_SIZE)
        if not self._reading:
            self._reading = True
            self._loop.add_reader(sock.fileno(), self._read)
        answer: asyncio.Future[None] = self._loop.create_future()
        packet = self._publications.put(topic, payload, answer, retain=retain)
        if self._gathered is None:
            self._socket.send(packet)
        else:
            self._gathered.append(packet)
        return answer

    def hand_over_unconfirmed(self, topic: str, payload: bytes, *, retain: bool) -> bool:
        """Publish at QoS 0; False where there is no connection any more, or it takes nothing."""
        if self._client.socket() is None or self._disconnected.done() or self._socket.full:
            return False
        self._socket.send(self._publications.unconfirmed(topic, payload, retain=retain))
        return True

    @contextmanager
    def together(self) -> Iterator[None]:
        """Send what is handed over in the body as one piece, so that the broker wakes once for it.

        Its answers are asked for one by one: a broker holds a second PUBACK back until the first one's arrival was
        confirmed, which the system on this side would do with the next packet, or after 40 ms.
        """
        gathered = self._gathered = []
        try:
            yield
        finally:
            self._gathered = None
            self._socket.send(b"".join(gathered))
            self._socket.ask_for_each_answer()

    def _client_connect(self) -> None:
        """Connect; in a thread."""
        try:
            super()._client_connect()
            self._reached = True
        finally:
            # Comes after all that aiomqtt itself asked of the loop from this thread.
            self._loop.call_soon_threadsafe(self._attempt_ended)

    def _attempt_ended(self) -> None:
        self._attempt_over = True
        if self._given_up:
            self.close(quietly=True)

    def _on_socket_register_write(
        self,
        client: PahoClient,  # noqa: ARG002  # paho's word
        userdata: Any,  # noqa: ANN401, ARG002  # paho's word
        sock: Any,  # noqa: ANN401  # paho's own protocol of sockets
    ) -> None:
        self._loop.call_soon_threadsafe(self._socket.watch_writable, sock)

    def _on_socket_unregister_write(
        self,
        client: PahoClient,
        userdata: Any,  # noqa: ANN401  # paho's word
        sock: Any,  # noqa: ANN401  # paho's own protocol of sockets
    ) -> None:
        super()._on_socket_unregister_write(client, userdata, sock)
        self._socket.released(sock)

    def _on_socket_close(self, client: PahoClient, userdata: Any, sock: Any) -> None:  # noqa: ANN401  # paho's words
        super()._on_socket_close(client, userdata, sock)
        if sock.fileno() >= 0:
            self._loop.remove_writer(sock.fileno())

    def _read(self) -> None:
        """Take acknowledgements of publications as they come; all else is paho's."""
        sock: Any = self._client.socket()
        try:
            if sock is not None and self._publications.awaited:
                data = sock.recv(READ_AT_ONCE, socket.MSG_PEEK)
                ours = self._publications.take(data)
                if ours:
                    sock.recv(ours)
                    self._socket.send(self._publications.due())
                if data and ours == len(data):
                    return
            self._client.loop_read()
        except BlockingIOError:
            return
        except (MqttError, MQTTException, OSError, ValueError) as error:
            if not self._disconnected.done():
                self._disconnected.set_exception(error)

    def _on_connect(
        self,
        client: PahoClient,
        userdata: Any,  # noqa: ANN401  # paho's word
        flags: ConnectFlags,
        reason_code: ReasonCode,
        properties: Properties | None = None,
    ) -> None:
        most = getattr(properties, "ReceiveMaximum", MAX_UNACKNOWLEDGED)
        self._publications = Publications(five=self.limits_packets, most=min(most, MAX_UNACKNOWLEDGED))
        super()._on_connect(client, userdata, flags, reason_code, properties)

    def _on_disconnect(
        self,
        client: PahoClient,
        userdata: Any,  # noqa: ANN401  # paho's word
        flags: DisconnectFlags,
        reason_code: ReasonCode,
        properties: Properties | None = None,
    ) -> None:
        super()._on_disconnect(client, userdata, flags, reason_code, properties)
        self._loop.call_soon_threadsafe(self._fail_waiting)

    def _fail_waiting(self) -> None:
        if self._opening and not self._connected.done():
            self._connected.set_exception(HungUpError("hung up during the handshake"))
        self._publications.lost(MqttError("connection lost"))


@contextmanager
def _cancellable() -> Iterator[None]:
    """Make sure that a cancellation during the body is one after it.

    aiomqtt waits by `asyncio.wait_for`, which in Python 3.11 forgets a cancellation that comes with the answer.
    """
    task = asyncio.current_task()
    before = 0 if task is None else task.cancelling()
    try:
        yield
    finally:
        if task is not None and task.cancelling() > before:
            raise asyncio.CancelledError


def _connect_properties(settings: MqttSettings) -> Properties:
    properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]  # paho left it untyped
    properties.MaximumPacketSize = settings.max_packet
    properties.SessionExpiryInterval = 0
    return properties
