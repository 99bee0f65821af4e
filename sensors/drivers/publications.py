"""Publications as bytes, and the acknowledgements of those at QoS 1 out of bytes. Knows no socket.

They go beside paho, which makes the connection and keeps it: its own way takes a lock, a dictionary and three calls of
the system for each packet. So none of paho's own packets on such a connection may carry an identifier.
"""

import asyncio
from collections import deque
from typing import Final

from aiomqtt import MqttError
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.reasoncodes import ReasonCode

PUBLISH_QOS_0: Final = 0x30
PUBLISH_QOS_1: Final = 0x32
RETAIN: Final = 0x01
PUBACK: Final = 0x40
REFUSED_FROM: Final = 0x80
"""MQTT 5 reason codes from here on are refusals (MQTT 5.0, 2.4)."""
MOST_IDENTIFIERS: Final = 65_535
LONGEST: Final = 65_535
"""Bytes of a topic, and of an acknowledgement."""

Answer = asyncio.Future[None]


class PublishRefusedError(MqttError):
    """The broker answered a publication with a reason of refusal (not authorised, quota exceeded ...)."""


class Publications:
    """What is under way on one connection.

    Args:
        five: whether MQTT 5 is spoken, which adds properties (none) and a reason.
        most: how many acknowledgements the broker lets us wait for; what comes beyond waits here.
    """

    def __init__(self, *, five: bool, most: int) -> None:
        self._five = five
        self._most = min(most, MOST_IDENTIFIERS - 1)
        self._last = 0
        self._open: dict[int, Answer] = {}
        self._waiting: deque[tuple[bytes, bytes, Answer]] = deque()
        self._partial = b""

    def __len__(self) -> int:
        return len(self._open) + len(self._waiting)

    @property
    def awaited(self) -> bool:
        """Whether what comes next may be an acknowledgement, or the rest of one."""
        return bool(self._open or self._partial)

    def put(self, topic: str, payload: bytes, answer: Answer, *, retain: bool) -> bytes:
        """Return what is to be sent for a publication now; nothing while it has to wait for others.

        Raises:
            ValueError: a topic of more than `LONGEST` bytes.
        """
        back = b"\0" + payload if self._five else payload
        self._waiting.append((_front(PUBLISH_QOS_1, topic, 2 + len(back), retain=retain), back, answer))
        return self.due()

    def unconfirmed(self, topic: str, payload: bytes, *, retain: bool) -> bytes:
        """Return what is to be sent for a publication at QoS 0, of which no answer comes.

        Raises:
            ValueError: as `put`.
        """
        back = b"\0" + payload if self._five else payload
        return _front(PUBLISH_QOS_0, topic, len(back), retain=retain) + back

    def due(self) -> bytes:
        """Return what may be sent now of what has waited."""
        packets: list[bytes] = []
        while self._waiting and len(self._open) < self._most:
            front, back, answer = self._waiting.popleft()
            if not answer.done():
                packets += (front, self._numbered(answer), back)
        return b"".join(packets)

    def take(self, data: bytes) -> int:
        """Take the acknowledgements at the beginning of what has come; return how many bytes they are.

        One that breaks off is taken too, and gone on with the next time.

        Raises:
            MqttError: what has come is no MQTT.
        """
        before, data = len(self._partial), self._partial + data
        at = 0
        while data[at : at + 1] == b"\x40" and (end := _end(data, at)) is not None:
            self._acknowledged(data, at, end)
            at = end
        self._partial = data[at:] if data[at : at + 1] == b"\x40" else b""
        return at + len(self._partial) - before

    def lost(self, error: Exception) -> None:
        """The connection has ended: nothing more will be acknowledged."""
        answers = [*self._open.values(), *(answer for _, _, answer in self._waiting)]
        self._open.clear()
        self._waiting.clear()
        for answer in answers:
            if not answer.done():
                answer.set_exception(error)

    def _numbered(self, answer: Answer) -> bytes:
        while (number := self._last % MOST_IDENTIFIERS + 1) in self._open:
            self._last = number
        self._last = number
        self._open[number] = answer
        return number.to_bytes(2, "big")

    def _acknowledged(self, data: bytes, at: int, end: int) -> None:
        body = at + 1 + _width(data, at)
        if end < body + 2:
            raise MqttError("an acknowledgement of nothing")
        answer = self._open.pop(int.from_bytes(data[body : body + 2], "big"), None)
        if answer is None or answer.done():
            return
        reason = data[body + 2] if self._five and end > body + 2 else 0
        if reason >= REFUSED_FROM:
            answer.set_exception(PublishRefusedError(_named(reason)))
        else:
            answer.set_result(None)


def _front(kind: int, topic: str, follows: int, *, retain: bool) -> bytes:
    """A PUBLISH up to its topic, behind which so many bytes follow (MQTT 5.0, 3.3).

    Raises:
        ValueError: a topic of more than `LONGEST` bytes.
    """
    name = topic.encode()
    if len(name) > LONGEST:
        raise ValueError(f"a topic of {len(name)} bytes")
    head = kind | RETAIN if retain else kind
    return b"%c%b%b%b" % (head, _length(2 + len(name) + follows), len(name).to_bytes(2, "big"), name)


def _length(number: int) -> bytes:
    """A length in MQTT's groups of seven bits, lowest first (MQTT 5.0, 1.5.5)."""
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def _width(data: bytes, at: int) -> int:
    """How many bytes the length of the packet at this place takes, as far as it has come: at most four."""
    width = 1
    while width < 4 and data[at + width : at + width + 1] >= b"\x80":
        width += 1
    return width


def _end(data: bytes, at: int) -> int | None:
    """Where the packet at this place ends; None while it has not come whole. MqttError: it cannot be meant."""
    width = _width(data, at)
    groups = data[at + 1 : at + 1 + width]
    if len(groups) < width:
        return None
    length = sum((group & 0x7F) << 7 * place for place, group in enumerate(groups))
    if length > LONGEST:
        raise MqttError(f"an acknowledgement of {length} bytes")
    end = at + 1 + width + length
    return end if end <= len(data) else None


def _named(reason: int) -> str:
    try:
        return str(ReasonCode(PacketTypes.PUBACK, identifier=reason))
    except (KeyError, AssertionError):
        return f"{reason:#x}"
