"""Who is told, and by which channel: the ``[[channel]]`` and ``[[recipient]]`` blocks, built. Outputs are not here."""

from collections.abc import Iterator
from typing import assert_never

from alerts.routing import Recipient
from gateway.configuration.credentials import Secrets
from gateway.configuration.crosschecks import BROKER
from gateway.configuration.schema import ChannelTable, OutputTable, PlainChannelTable, WebhookTable
from gateway.configuration.tables import Tables
from gateway.depot import Channel, ConsoleChannel, MqttChannel, WebhookChannel

CENTRE = "centre"
"""The role whose call costs something."""

GAS = frozenset({"A1", "A2", "A3"})
EVERYTHING = GAS | {"BLIND", "SYSTEM", "COMPLIANCE"}


def channels_of(tables: Tables, secrets: Secrets) -> Iterator[Channel]:
    """The channels of the file, and the broker's where it is not among them: alarms go out on it by contract."""
    for entry in tables.channels:
        table: ChannelTable = entry.table
        match table:
            case WebhookTable() as hook:
                secret = secrets.of(entry.path, "secret", hook.secret_env, hook.secret_file)
                yield WebhookChannel(hook.id, hook.url, secret, hook.timeout_s)
            case PlainChannelTable(kind="mqtt") as plain:
                yield MqttChannel(plain.id)
            case PlainChannelTable() as plain:
                yield ConsoleChannel(plain.id)
            case OutputTable():
                pass  # no channel of the dispatcher
            case _:
                assert_never(table)
    if _brings_channel(tables):
        yield MqttChannel(BROKER)


def recipients_of(tables: Tables) -> Iterator[Recipient]:
    """The people of the file, and whoever listens to the broker."""
    called_in = {name for step in tables.escalation for name in step.table.recipients}
    persons = [entry.table for entry in tables.recipients]
    alarms = {
        person.id: (frozenset[str]() if person.id in called_in else GAS)
        if person.alarms is None
        else frozenset[str](person.alarms)
        for person in persons
    }
    consoles = {entry.table.id for entry in tables.channels if entry.table.kind == "console"}
    reached = [person for person in persons if person.role != CENTRE and not consoles.issuperset(person.channels)]
    heard_at_once = frozenset[str]().union(*(alarms[person.id] for person in reached))
    for person in persons:
        heard = alarms[person.id]
        called = person.role == CENTRE and heard & GAS <= heard_at_once
        name, phone = person.name or person.id, person.phone or ""
        yield Recipient(person.id, name, person.role, tuple(person.channels), heard, called, phone)
    if _brings_channel(tables):
        yield Recipient(BROKER, "MQTT", "operator", (BROKER,), EVERYTHING)


def _brings_channel(tables: Tables) -> bool:
    return tables.mqtt is not None and not any(entry.table.kind == "mqtt" for entry in tables.channels)
