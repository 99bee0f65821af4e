"""Alarms out through the depot's broker: events, the standing state of each alarm, and whether the watch is alive."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final
from urllib.parse import quote

import msgspec
from aiomqtt import Message, MqttError, Will

from alerts.alarms import AlarmEvent, AlarmKey, AlarmState, EventId, Notice, Outcome, Phase, Verdict
from alerts.messages.body import body
from sensors.drivers.broker import Backoff, Connect, MqttConnection, MqttSettings, reason_of
from sensors.drivers.brokerconnection import connected
from sensors.drivers.names import Names
from sensors.drivers.publications import PublishRefusedError
from sensors.stamps import rfc3339

ROOT: Final = "vigia"
ACKNOWLEDGE_S: Final = 2.0
"""How long the broker may take to acknowledge one notice."""
MAX_REMEMBERED: Final = 512
"""Events whose acknowledgement is remembered, so that a second recipient of one does not make a second message."""
DEAD: Final = b'{"alive": false}'


def topic_level(name: str) -> str:
    """Turn any name into one topic level, one-to-one: no ``/ + # $`` or control sign, never empty, never dots alone."""
    if name == "":
        return "%"  # no other name is written so
    level = quote(name, safe="", errors="surrogatepass")
    return level if name.strip(".") else level.replace(".", "%2E")


def alarm_state(event: AlarmEvent) -> dict[str, object]:
    """Return where an alarm stands after an event: the retained message of its topic."""
    return {
        "state": event.after.value,
        "level": None if event.level is None else event.level.name,
        "lel_pct": None if event.lel_pct is None else round(event.lel_pct, 1),
        "since": rfc3339(event.since.utc),
        "sampled": rfc3339(event.sampled.utc),
        "decided": rfc3339(event.at.utc),
        "seq": event.seq,
        "suppression": None if event.suppressed is None else event.suppressed.what.value,
    }


class MqttChannel:
    """A counting output: a notice is accepted when the broker's PUBACK says that it has it."""

    counts = True
    attempt_timeout_s = ACKNOWLEDGE_S + 1.0
    parallel = 8

    def __init__(
        self,
        id: str,  # noqa: A002  # the contract's word
        settings: MqttSettings,
        depot: str,
        alarm: Callable[[AlarmKey], AlarmState | None] | None = None,
        connect: Connect | None = None,
    ) -> None:
        """`alarm` tells how an alarm stands now; `connect` holds a connection, where not over the network."""
        self.id = id
        self._alarm = alarm
        self.reason = "not-yet"
        self._settings = settings
        self._base = f"{ROOT}/{topic_level(depot)}"
        will = Will(f"{self._base}/health", DEAD, qos=1, retain=True)
        self._connect: Connect = connect or partial(connected, will=will, names=Names())
        self._connection: MqttConnection | None = None
        self._health = DEAD
        self._checkpoint: str | None = None
        self._accepted: dict[EventId, None] = {}
        self._newest: dict[str, int] = {}

    @property
    def up(self) -> bool:
        """Whether the broker is connected now; `reason` says why not."""
        return self._connection is not None

    async def run(self) -> None:
        """Stay connected until cancelled. However it ends, the broker says that the watch is dead."""
        backoff = Backoff()
        clock = asyncio.get_running_loop().time
        while True:
            began = clock()
            try:
                async with self._connect(self._settings, _ignored) as connection:
                    began = clock()
                    self._connection, self.reason = connection, ""
                    self._say_health()
                    self._say_checkpoint()
                    await connection.lost()
            except MqttError as error:
                stood = clock() - began if self.up else 0.0
                self._connection, self.reason = None, reason_of(error)
                await asyncio.sleep(backoff.after(stood))
            finally:
                self._connection = None

    async def deliver(self, notice: Notice) -> Outcome:
        """Publish the event and the alarm's state; ACCEPTED once the broker acknowledged both."""
        if notice.event.id in self._accepted:
            return Outcome(Verdict.ACCEPTED, "already acknowledged")
        if self._connection is None:
            return Outcome(Verdict.RETRY, self.reason)
        try:
            await self._publish(self._connection, notice)
        except TimeoutError:
            return Outcome(Verdict.RETRY, "no-answer")
        except PublishRefusedError as error:
            return Outcome(Verdict.RETRY, f"refused: {error}")
        except MqttError as error:
            return Outcome(Verdict.RETRY, reason_of(error))
        self._remember(notice.event.id)
        return Outcome(Verdict.ACCEPTED, "PUBACK")

    async def _publish(self, connection: MqttConnection, notice: Notice) -> None:
        """Publish both messages at once and wait for both acknowledgements.

        Raises:
            TimeoutError: if they take longer than `ACKNOWLEDGE_S`.
            MqttError: if the connection is lost or the broker refuses one.
        """
        event = notice.event
        topic = f"{self._base}/alarm/{topic_level(event.key.subject)}/{event.key.kind.value}"
        answers: list[asyncio.Future[None]] = []
        try:
            with connection.together():
                answers.append(connection.hand_over(f"{self._base}/event", _json(body(notice)), retain=False))
                # A late repeat of an older event must not put an older state over a newer one.
                if event.seq >= self._newest.get(topic, 0) and self._stands_so(event):
                    self._newest[topic] = event.seq
                    answers.append(connection.hand_over(topic, _json(alarm_state(event)), retain=True))
            async with asyncio.timeout(ACKNOWLEDGE_S):
                for answer in answers:
                    await answer
        finally:
            for answer in answers:
                if not answer.cancel() and not answer.cancelled():
                    answer.exception()  # the first failure was told; the other one is the same

    def _stands_so(self, event: AlarmEvent) -> bool:
        """Tell whether the alarm stands now as the event left it; else a later one, perhaps told long ago, shows it."""
        if self._alarm is None:
            return True
        alarm = self._alarm(event.key)
        over = None if event.suppressed is None else event.suppressed.what
        if alarm is None:
            return event.after is Phase.NORMAL
        as_left = (event.after, event.level, over) == (alarm.phase, alarm.level, alarm.suppression)
        return as_left and event.seq >= alarm.seq

    def health(self, state: Mapping[str, object]) -> bool:
        """Publish the retained health message, `alive` with what the caller adds; False when not connected."""
        self._health = _json({"alive": True, **state})
        return self._say_health()

    def _say_health(self) -> bool:
        connection = self._connection
        return connection is not None and connection.hand_over_unconfirmed(
            f"{self._base}/health", self._health, retain=True
        )

    def checkpoint(self, note: str) -> None:
        """Publish the journal's last signed checkpoint, retained; again with each new connection."""
        self._checkpoint = note
        self._say_checkpoint()

    def _say_checkpoint(self) -> None:
        if self._connection is not None and self._checkpoint is not None:
            self._connection.hand_over_unconfirmed(f"{self._base}/checkpoint", self._checkpoint.encode(), retain=True)

    def _remember(self, event: EventId) -> None:
        self._accepted[event] = None
        if len(self._accepted) > MAX_REMEMBERED:
            del self._accepted[next(iter(self._accepted))]


def _ignored(message: Message) -> None:
    """Nothing is subscribed to here, so nothing comes."""


def _json(value: Mapping[str, object]) -> bytes:
    return msgspec.json.encode(value)
