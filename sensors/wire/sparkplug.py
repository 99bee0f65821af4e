"""Sparkplug B 3.0: payloads -> metrics, and what one head of an edge node knows by its births, deaths and numbers.

Specification, chapters 4 (topics), 5 (births and deaths) and 6 (payloads). Knows no broker and no clock; that a birth
is to be asked for is said (`EdgeSession.wants_birth`), not done.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from sensors.wire.protobuf import NoBufferError, fields, put_bytes, put_whole
from sensors.wire.topics import TopicError

NAMESPACE: Final = "spBv1.0"
SEQUENCES: Final = 256
"""Sequence numbers go round after so many messages of a node, all its devices counted together."""
MAX_METRICS: Final = 5000
"""Metrics read of one payload; further ones are left out."""

BD_SEQ: Final = "bdSeq"
REBIRTH: Final = "Node Control/Rebirth"

_METRICS, _SEQ = 2, 3
_NAME, _ALIAS, _DATATYPE, _HISTORICAL, _NULL, _PROPERTIES = 1, 2, 4, 5, 7, 9
_INT, _LONG, _FLOAT, _DOUBLE, _BOOLEAN, _STRING = range(10, 16)
_KEYS, _VALUES, _PROPERTY_INT, _PROPERTY_LONG = 1, 2, 3, 4
"""Fields of the payload, of a metric, and of a metric's properties."""

BOOLEAN: Final = 11
_SIGNED: Final = {1: 8, 2: 16, 3: 32, 4: 64}
"""Data types of signed whole numbers, and their bits."""
_QUALITY: Final = "Quality"
_GOOD: Final = 192
"""A metric whose property ``Quality`` is another than this (0 bad, 500 stale) holds no value."""

Value = bool | int | float | str | None
Aliases = Mapping[int, tuple[str, int]]
"""Alias -> (name, data type), as a birth told them."""


class Metric(NamedTuple):
    """One metric as it stands in a payload.

    Attributes:
        name: empty where only the alias is told.
        datatype: 0 where it is not told.
        historical: a value of before, sent late: never a live one.
        null: it says that it has no value, or that its value is not good.
        field, raw: which of the value's fields is there, and what it holds; 0 and None where none is.
    """

    name: str
    alias: int | None
    datatype: int
    historical: bool
    null: bool
    field: int
    raw: int | bytes | None


class Payload(NamedTuple):
    """One payload; `seq` is None where it has none, as in a node's death."""

    seq: int | None
    metrics: tuple[Metric, ...]


@lru_cache(maxsize=8)  # heads of one node hear the same message one after the other
def decode(payload: bytes) -> Payload:
    """Read a payload.

    Raises:
        NoBufferError: if it is none.
    """
    seq: int | None = None
    metrics: list[Metric] = []
    for field, value in fields(payload):
        if field == _SEQ and isinstance(value, int):
            seq = value
        elif field == _METRICS and isinstance(value, bytes) and len(metrics) < MAX_METRICS:
            metrics.append(_metric(value))
    return Payload(seq, tuple(metrics))


def _metric(content: bytes) -> Metric:
    name, alias, datatype, historical, null = "", None, 0, False, False
    held: tuple[int, int | bytes | None] = (0, None)
    for field, value in fields(content):
        match field, value:
            case int(), bytes() if field == _NAME:
                name = value.decode("utf-8", "replace")
            case int(), int() if field == _ALIAS:
                alias = value
            case int(), int() if field == _DATATYPE:
                datatype = value
            case int(), int() if field == _HISTORICAL:
                historical = bool(value)
            case int(), int() if field == _NULL:
                null = null or bool(value)
            case int(), bytes() if field == _PROPERTIES:
                null = null or _quality(value) != _GOOD
            case int(), _ if _INT <= field <= _STRING:
                held = field, value
            case _:
                pass
    return Metric(name, alias, datatype, historical, null, *held)


def _quality(properties: bytes) -> int:
    keys, values = [], []
    for field, value in fields(properties):
        if field == _KEYS and isinstance(value, bytes):
            keys.append(value.decode("utf-8", "replace"))
        elif field == _VALUES and isinstance(value, bytes):
            numbers = [number for inner, number in fields(value) if inner in (_PROPERTY_INT, _PROPERTY_LONG)]
            values.append(numbers[0] if numbers else 0)
    found = dict(zip(keys, values, strict=False)).get(_QUALITY, _GOOD)
    return found if isinstance(found, int) else 0


def value_of(metric: Metric, datatype: int) -> Value:
    """Return what a metric holds, of this data type (0: nobody told it); None for no value, or one of other kinds."""
    if metric.null:
        return None
    raw = metric.raw
    if isinstance(raw, int):
        return _whole(raw, metric.field, datatype)
    match metric.field, len(raw or b""):
        case (12, 4) | (13, 8):
            (number,) = struct.unpack("<f" if metric.field == _FLOAT else "<d", raw or b"")
            return float(number)
        case (15, _):
            return (raw or b"").decode("utf-8", "replace")
        case _:
            return None


def _whole(raw: int, field: int, datatype: int) -> Value:
    """What a varint stands for: signs are not in the number itself, and some nodes write yes or no as one."""
    if datatype == BOOLEAN or field == _BOOLEAN:
        return bool(raw)
    if field not in (_INT, _LONG):
        return None
    bits = _SIGNED.get(datatype, 32 if datatype == 0 and field == _INT else 0)
    return raw if not bits else (raw & (1 << bits) - 1) - (raw >> bits - 1 & 1) * (1 << bits)


@dataclass(frozen=True, slots=True)
class Address:
    """Whose topic it is: ``spBv1.0/<group>/<kind>/<node>[/<device>]``; no device for the node's own metrics."""

    group: str
    kind: str
    node: str
    device: str = ""

    @property
    def command(self) -> str:
        """The topic on which the node takes commands."""
        return f"{NAMESPACE}/{self.group}/NCMD/{self.node}"


def address_of(topic: str) -> Address | None:
    """Take a topic apart; None for one that is none of an edge node."""
    steps = topic.split("/")
    if len(steps) not in (4, 5) or steps[0] != NAMESPACE or len(steps) != 4 + (steps[2][:1] == "D"):
        return None
    return Address(*steps[1:])


def topics_of(topic: str) -> tuple[str, ...]:
    """Return everything to subscribe to for a head whose values come on this topic (``DDATA`` or ``NDATA``).

    All devices of its node are in it: they share one sequence, and a message of theirs that is lost may have been the
    node's birth.

    Raises:
        TopicError: if it is none of these.
    """
    own = address_of(topic)
    if own is None or own.kind not in ("DDATA", "NDATA"):
        raise TopicError(f"{topic!r} is not {NAMESPACE}/GROUP/DDATA/NODE/DEVICE or {NAMESPACE}/GROUP/NDATA/NODE")
    node = tuple(f"{NAMESPACE}/{own.group}/{kind}/{own.node}" for kind in ("NBIRTH", "NDATA", "NDEATH"))
    return node + tuple(f"{NAMESPACE}/{own.group}/{kind}/{own.node}/+" for kind in ("DBIRTH", "DDATA", "DDEATH"))


def rebirth(utc_ms: int) -> bytes:
    """Return the payload that asks a node on `Address.command` to tell all its births again."""
    metric = put_bytes(_NAME, REBIRTH.encode()) + put_whole(_DATATYPE, BOOLEAN) + put_whole(_BOOLEAN, 1)
    return put_whole(1, utc_ms) + put_bytes(_METRICS, metric)


@dataclass(frozen=True, slots=True)
class Metrics:
    """What a message says of the head's device: values by name.

    Attributes:
        doubt: why they end no alarm (short code); empty for values whose births and order are known.
    """

    values: Mapping[str, Value]
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Gone:
    """The device cannot be heard: it or its node died (``offline``), or the node is new and the device not yet born."""

    reason: str


class EdgeSession:
    """What one head knows of its edge node, message by message.

    A message that came out of order means that others were lost. What comes then still is gas if it says so, but ends
    no alarm until the node was born anew: aliases may stand for other metrics by now.

    Attributes:
        address: of the head's own topic.
        wants_birth: the node is to be asked for its births.

    Raises:
        TopicError: (on making) if the topic is none of an edge node's data.
    """

    def __init__(self, topic: str) -> None:
        self.topics = topics_of(topic)
        own = address_of(topic)
        if own is None:  # topics_of has refused it
            raise TopicError(topic)
        self.address = own
        self.forget()

    def forget(self) -> None:
        """Know nothing, as after a connection that was lost: births are not kept by the broker."""
        self.wants_birth = True
        self._node_born = False
        self._own_born = False
        self._in_order = True
        self._seq: int | None = None
        self._bd_seq: Value = None
        self._known: Aliases = {}
        self._types: Mapping[str, int] = {}

    def hear(self, topic: str, payload: bytes) -> Metrics | Gone | None:
        """Return what a message says of this head; None if nothing.

        Raises:
            NoBufferError: if a message of its own is no payload.
        """
        at = address_of(topic)
        if at is None or (at.group, at.node) != (self.address.group, self.address.node):
            return None
        own = at.device == self.address.device
        try:
            said = decode(payload)
        except NoBufferError:
            self._in_order, self.wants_birth = False, True  # its number is lost, whatever it was
            if own:
                raise
            return None
        match at.kind:
            case "NBIRTH":
                return self._node_birth(said, own=own)
            case "NDEATH":
                return self._node_death(said)
            case "DBIRTH" | "DDATA" | "DDEATH" | "NDATA":
                self._count(said.seq)
                return self._of_own(at.kind, said) if own else None
            case _:
                return None

    def _node_birth(self, said: Payload, *, own: bool) -> Metrics | Gone:
        self.forget()
        self.wants_birth = False
        self._node_born = True
        self._seq = said.seq
        self._bd_seq = _bd_seq(said)
        if not own:
            return Gone("not-born")
        self._learn(said)
        return self._values(said)

    def _node_death(self, said: Payload) -> Gone | None:
        """A death of an earlier connection may come late: it carries another number than the birth."""
        number = _bd_seq(said)
        if self._bd_seq is not None and number is not None and number != self._bd_seq:
            return None
        asked_for = self._node_born
        self.forget()
        self.wants_birth = not asked_for  # one that was heard to die comes back with a birth of its own
        return Gone("offline")

    def _of_own(self, kind: str, said: Payload) -> Metrics | Gone:
        if kind == "DDEATH":
            self._own_born = False
            self._known, self._types = {}, {}
            return Gone("offline")
        if kind == "DBIRTH":
            self._learn(said)
        elif not self._own_born:
            self.wants_birth = True
        return self._values(said)

    def _count(self, seq: int | None) -> None:
        expected = None if self._seq is None else (self._seq + 1) % SEQUENCES
        if not self._node_born or seq != expected:
            self._in_order, self.wants_birth = False, True
        self._seq = seq

    def _learn(self, said: Payload) -> None:
        self._own_born = True
        self._types = {metric.name: metric.datatype for metric in said.metrics if metric.name}
        self._known = {
            metric.alias: (metric.name, metric.datatype)
            for metric in said.metrics
            if metric.alias is not None and metric.name
        }

    def _values(self, said: Payload) -> Metrics:
        values: dict[str, Value] = {}
        for metric in said.metrics:
            name, datatype = metric.name, metric.datatype
            if not name and metric.alias is not None:
                name, known = self._known.get(metric.alias, ("", 0))
                datatype = datatype or known
            if not name:
                self.wants_birth = True  # a metric that no birth has told
            elif not metric.historical:
                values[name] = value_of(metric, datatype or self._types.get(name, 0))
        doubt = "" if self._in_order else "out-of-order"
        return Metrics(values, doubt if self._node_born and self._own_born else "not-born")


def _bd_seq(said: Payload) -> Value:
    return next((value_of(metric, metric.datatype) for metric in said.metrics if metric.name == BD_SEQ), None)
