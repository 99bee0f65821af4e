"""Who hears of an event, by which channel, and who is called in when nobody takes it."""

from collections.abc import Sequence
from dataclasses import dataclass

from alerts.alarms import AlarmEvent, AlarmKey, Cause, Delivery, Kind


@dataclass(frozen=True, slots=True)
class Recipient:
    """A person or desk that must be told.

    Attributes:
        role: owner, operator, brigade, centre or neighbour.
        channels: ids of channels, each used for every notice.
        alarms: what it hears: levels (``A1`` ...) for gas, kind names for the rest.
        called: a call to it costs something, and others hear the same: it hears of gas once that is sure (`CONFIRMED`).
        phone: for people to call it by; no notice goes there.
    """

    id: str
    name: str
    role: str
    channels: tuple[str, ...]
    alarms: frozenset[str]
    called: bool = False
    phone: str = ""


@dataclass(frozen=True, slots=True)
class EscalationStep:
    """`after_s` seconds after a raise or rise that nobody acknowledged, these recipients hear of it too."""

    after_s: float
    recipients: tuple[str, ...]


CONFIRMED = "confirmed"
"""Why an alarm that stands is told again (`Cause.STILL`), to those alone who are called once gas is sure."""

EXERCISE = AlarmKey("exercise", Kind.SYSTEM)
"""The notice of an exercise, by which a person tries whether everybody is reached: it goes to everybody, as a drill."""

SENT = frozenset(Cause) - {Cause.SILENCED}
"""Causes that leave the house; the rest is only recorded."""


def hears(recipient: Recipient, event: AlarmEvent) -> bool:
    """Tell whether a recipient hears of this event by its list, without having been called in."""
    if event.key == EXERCISE:
        return True
    if event.key.kind is Kind.GAS and recipient.called and not event.drill:
        return False
    if event.key.kind is Kind.GAS and event.level is not None:
        return event.level.name in recipient.alarms
    return event.key.kind.value in recipient.alarms


def is_call(event: AlarmEvent) -> bool:
    """Tell whether an event calls those who wait for sure gas, of which the others have heard before."""
    return event.cause is Cause.STILL and event.reason == CONFIRMED


def deliveries(
    event: AlarmEvent,
    recipients: Sequence[Recipient],
    told: frozenset[str] = frozenset(),
    only: frozenset[str] | None = None,
) -> tuple[Delivery, ...]:
    """Return what is owed for an event, one per recipient and channel, in the recipients' order.

    `told` are recipients that were called in, by escalation or once gas was sure: they hear it whatever their lists
    say. A call (`is_call`) is for those alone who are called. A channel never carries the notice that it is itself
    unwell. With `only`, no channel but these is used.
    """
    if event.cause not in SENT:
        return ()
    if is_call(event):
        recipients = [recipient for recipient in recipients if recipient.called]
    own = event.key.subject.removeprefix("channel:") if event.key.kind is Kind.SYSTEM else None
    return tuple(
        Delivery(id=f"{event.id}:{channel}:{recipient.id}", event=event.id, recipient=recipient.id, channel=channel)
        for recipient in recipients
        if hears(recipient, event) or recipient.id in told
        for channel in recipient.channels
        if channel != own and (only is None or channel in only)
    )
