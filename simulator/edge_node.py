"""An edge node of Sparkplug B as it speaks: its birth, that of a device, then data by aliases only."""

from collections.abc import Mapping
from typing import Final

from sensors.wire.protobuf import put_bytes, put_double, put_whole
from sensors.wire.sparkplug import BD_SEQ, NAMESPACE, REBIRTH, SEQUENCES, address_of

MILLISECONDS: Final = 1_700_000_000_000
"""A time for payloads, which nobody has to believe."""

INT64, DOUBLE, BOOLEAN, STRING = 4, 10, 11, 12
"""Data types as Sparkplug numbers them."""

Value = bool | int | float | str | None


class EdgeNode:
    """One node with one device (or none: its own metrics), counting its messages as the specification has it.

    Attributes:
        seq: number of the next message.
        births: how often it was born, which is its ``bdSeq``.
    """

    def __init__(self, data_topic: str) -> None:
        address = address_of(data_topic)
        if address is None:
            raise ValueError(f"{data_topic!r} is no topic of an edge node")
        self.address = address
        self.seq = 0
        self.births = -1
        self._aliases: dict[str, int] = {}

    def topic(self, kind: str, device: str = "") -> str:
        """Return its topic of this kind."""
        steps = [NAMESPACE, self.address.group, kind, self.address.node, *([device] if device else [])]
        return "/".join(steps)

    def birth(self, metrics: Mapping[str, Value]) -> tuple[tuple[str, bytes], ...]:
        """Return the births of the node and of its device, which tell every name, type and value."""
        self.births += 1
        self.seq = 0
        self._aliases = {name: alias for alias, name in enumerate(metrics, start=1)}
        own = metric(BD_SEQ, self.births) + metric(REBIRTH, value=False)
        told = b"".join(metric(name, value, alias=self._aliases[name]) for name, value in metrics.items())
        if not self.address.device:
            return ((self.topic("NBIRTH"), self._payload(own + told)),)
        return (
            (self.topic("NBIRTH"), self._payload(own)),
            (self.topic("DBIRTH", self.address.device), self._payload(told)),
        )

    def data(self, metrics: Mapping[str, Value], *, historical: bool = False) -> tuple[str, bytes]:
        """Return what changed, by alias alone."""
        told = b"".join(
            metric("", value, alias=self._aliases[name], historical=historical) for name, value in metrics.items()
        )
        return self.topic(self.address.kind, self.address.device), self._payload(told)

    def device_death(self) -> tuple[str, bytes]:
        """Return what the node says when it loses its device."""
        return self.topic("DDEATH", self.address.device), self._payload(b"")

    def death(self, bd_seq: int | None = None) -> tuple[str, bytes]:
        """Return the node's last will; with another `bd_seq`, that of another connection."""
        number = self.births if bd_seq is None else bd_seq
        return self.topic("NDEATH"), put_whole(1, MILLISECONDS) + metric(BD_SEQ, number)

    def _payload(self, metrics: bytes) -> bytes:
        found = put_whole(1, MILLISECONDS) + metrics + put_whole(3, self.seq)
        self.seq = (self.seq + 1) % SEQUENCES
        return found


def metric(name: str, value: Value, *, alias: int | None = None, historical: bool = False) -> bytes:
    """Return one metric as a field of a payload; its data type only beside its name, as in a birth."""
    found = put_bytes(1, name.encode()) if name else b""
    found += b"" if alias is None else put_whole(2, alias)
    found += put_whole(3, MILLISECONDS)
    match value:
        case bool():
            kind, held = BOOLEAN, put_whole(14, value)
        case int():
            kind, held = INT64, put_whole(11, value)
        case float():
            kind, held = DOUBLE, put_double(13, value)
        case str():
            kind, held = STRING, put_bytes(15, value.encode())
        case _:
            kind, held = DOUBLE, put_whole(7, 1)
    found += put_whole(4, kind) if name else b""
    found += put_whole(5, 1) if historical else b""
    return put_bytes(2, found + held)


def lifetime(data_topic: str, metrics: Mapping[str, Value]) -> tuple[tuple[str, bytes], ...]:
    """Return a node's births and one message of data."""
    node = EdgeNode(data_topic)
    return (*node.birth(metrics), node.data(metrics))
