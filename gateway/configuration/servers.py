"""The servers that a file names, with what they want to know of whoever connects: the MQTT broker, the database."""

import ssl

from gateway.configuration.credentials import Secrets
from gateway.configuration.problems import shown
from gateway.configuration.schema import MqttTable
from gateway.configuration.tables import Entry, Tables
from gateway.store.settings import Changes, Influx, Pace, Target
from gateway.words.system import said
from sensors.drivers.mqtt import MqttSettings

DAY_MS = 86_400_000


def broker_of(tables: Tables, secrets: Secrets) -> MqttSettings | None:
    """The broker; None where the file names none."""
    if tables.mqtt is None:
        return None
    entry: Entry[MqttTable] = tables.mqtt
    broker = entry.table
    depot = tables.depot.table.id if tables.depot else ""
    return MqttSettings(
        host=broker.host,
        port=broker.port,
        username=broker.username,
        password=secrets.of(entry.path, "password", broker.password_env, broker.password_file),
        client_id=f"vigia-{depot}",
    )


def database_of(tables: Tables, secrets: Secrets) -> Influx | None:
    """The database of readings; None where the file names none. Certificates that cannot be read are refused."""
    if tables.influx is None:
        return None
    path, table = tables.influx.path, tables.influx.table
    ca = None if table.ca is None else secrets.folder / table.ca
    if ca is not None:
        try:
            ssl.create_default_context(cafile=str(ca))
        except (ssl.SSLError, ValueError):
            reason = secrets.sheet.words.text("reason.no_certificate")
            secrets.sheet.refuse((*path, "ca"), "ca", got=shown(table.ca), reason=reason)
        except OSError as error:
            reason = said(secrets.sheet.words, error.strerror or str(error))
            secrets.sheet.refuse((*path, "ca"), "ca", got=shown(table.ca), reason=reason)
    return Influx(
        target=Target(
            url=table.url,
            database=table.database,
            org=table.org,
            token=secrets.of(path, "token", table.token_env, table.token_file),
            username=table.username,
            password=secrets.of(path, "password", table.password_env, table.password_file),
            ca=ca,
            timeout_s=table.timeout_s,
            compress=table.compress,
        ),
        pace=Pace(most_points=table.batch_points, catch_up=table.catch_up_points_s),
        changes=Changes(table.change_lel_pct, table.quiet_s) if table.report == "changes" else None,
        spool_bytes=table.spool_mb * 2**20,
        spool_age_ms=round(table.spool_days * DAY_MS),
    )
