"""What ``vigia doctor`` looks at: the machine, and the hosts a depot needs. Finds, and repairs nothing."""

import asyncio
import os
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from zoneinfo import ZoneInfo

import apsw

from dashboards.ports import Ask
from gateway.asking import ask
from gateway.commissioning.probing import probe
from gateway.depot import ConsoleChannel, Depot
from gateway.field import reach
from gateway.journal import JournalReader, StoreError
from gateway.machine.clock import is_set
from gateway.machine.sockets import ControlError, answers
from sensors.drivers.broker import reason_of
from sensors.drivers.brokerconnection import connected
from sensors.drivers.mqtt import MqttSettings
from sensors.drivers.strays import FALSE_ID, ID_SWAPPED, ID_ZERO

LEAST_FREE_BYTES = 200_000_000
LEAST_FREE_TO_PASS_BYTES = 20_000_000
BROKER_WITHIN_S = 5.0


class Health(Enum):
    """How a finding stands; only BAD fails the doctor."""

    GOOD = "good"
    ADVICE = "advice"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing looked at. `check` names its words, `values` fill them in."""

    check: str
    health: Health
    values: dict[str, object] = field(default_factory=dict)


def examine(depot: Depot) -> Iterator[Observation]:
    """Look at everything, the quick things first."""
    running = _running(depot)
    yield Observation("gateway_running" if running else "gateway_not_running", Health.GOOD)
    yield _clock(depot)
    yield Observation("zone", Health.GOOD, {"zone": depot.timezone, "local": _local_time(depot)})
    yield from _data(depot)
    yield _journal(depot)
    yield from _web(depot, running=running)
    if not depot.address:
        yield Observation("no_address", Health.ADVICE)
    yield from _told(depot)
    for one in reach.reach(reach.endpoints(depot)):
        values: dict[str, object] = {"what": one.endpoint.what, "place": one.endpoint.place}
        if one.reason:
            yield Observation("unreachable", Health.BAD, {**values, "reason": one.reason})
        else:
            yield Observation("reachable", Health.GOOD, values)
            if one.endpoint.what == "mqtt" and depot.mqtt is not None:
                yield _broker(depot.mqtt)
    yield from _false_ids(depot, running=running)


def _running(depot: Depot) -> bool:
    try:
        return answers(depot.socket)
    except OSError:  # no place where a socket could be
        return False


def _local_time(depot: Depot) -> str:
    return datetime.now(ZoneInfo(depot.timezone)).strftime("%Y-%m-%d %H:%M")


def _clock(depot: Depot) -> Observation:
    now = datetime.now().astimezone()
    written = datetime.fromtimestamp(depot.file.stat().st_mtime).astimezone()
    if written > now:
        return Observation(
            "clock_behind", Health.BAD, {"now": f"{now:%Y-%m-%d %H:%M %Z}", "written": f"{written:%Y-%m-%d %H:%M %Z}"}
        )
    if not is_set():
        return Observation("clock_free", Health.ADVICE, {"now": f"{now:%Y-%m-%d %H:%M %Z}"})
    return Observation("clock", Health.GOOD, {"now": f"{now:%Y-%m-%d %H:%M %Z}"})


def _data(depot: Depot) -> Iterator[Observation]:
    folder = depot.data
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    values: dict[str, object] = {"folder": depot.data}
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        yield Observation("data_not_writable", Health.BAD, values)
        return
    yield Observation("data_writable", Health.GOOD, values)
    free = shutil.disk_usage(folder).free
    values = {**values, "free": f"{free / 1e6:,.0f}".replace(",", " ")}
    if free < LEAST_FREE_TO_PASS_BYTES:
        yield Observation("disk_full", Health.BAD, values)
    elif free < LEAST_FREE_BYTES:
        yield Observation("disk_low", Health.ADVICE, values)
    else:
        yield Observation("disk", Health.GOOD, values)


def _journal(depot: Depot) -> Observation:
    path = depot.journal
    if not path.exists():
        return Observation("journal_new", Health.GOOD, {"path": path})
    try:
        with JournalReader(path) as reader:
            owner, entries, _ = reader.head()
    except (StoreError, apsw.Error, OSError) as error:
        return Observation("journal_broken", Health.BAD, {"path": path, "reason": error})
    if owner != depot.id:
        return Observation("journal_foreign", Health.BAD, {"path": path, "owner": owner, "id": depot.id})
    return Observation("journal", Health.GOOD, {"path": path, "entries": entries})


def _web(depot: Depot, *, running: bool) -> Iterator[Observation]:
    if depot.web is None or running:  # a running gateway holds the port itself
        return
    values: dict[str, object] = {"host": depot.web.host, "port": depot.web.port}
    if trouble := address_trouble(depot.web.host, depot.web.port):
        yield Observation("port_taken", Health.BAD, {**values, "reason": trouble})
    else:
        yield Observation("port_free", Health.GOOD, values)


def address_trouble(host: str, port: int) -> str:
    """Return why nothing could listen on an address now, in the system's words; empty when something could."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error.strerror or str(error)
    return ""


def _told(depot: Depot) -> Iterator[Observation]:
    """A siren is heard in the yard; whoever is at home hears only what leaves the machine."""
    leaving = {channel.id for channel in depot.channels if not isinstance(channel, ConsoleChannel)}
    if not any(leaving.intersection(recipient.channels) for recipient in depot.recipients):
        yield Observation("nobody_away", Health.ADVICE)


def _false_ids(depot: Depot, *, running: bool) -> Iterator[Observation]:
    """Look for devices whose answers carry another number than the question, which a strict line takes from nobody."""
    strict = {bus.settings.id for bus in depot.buses if bus.heads and bus.settings.strict_ids and not bus.settings.rtu}
    heads = {str(detector.id): detector.source for detector in depot.detectors if detector.source in strict}
    found: dict[tuple[str, str], list[str]] = {}
    for name, reason in _reasons(depot, frozenset(heads), running=running):
        if name in heads and reason in (ID_ZERO, ID_SWAPPED, FALSE_ID):
            found.setdefault((heads[name], reason), []).append(name)
    for (bus, reason), names in found.items():
        check = reason.replace("-", "_")
        yield Observation(check, Health.BAD, {"bus": bus, "ids": ", ".join(names)})


def _reasons(depot: Depot, heads: frozenset[str], *, running: bool) -> Iterator[tuple[str, str]]:
    """Ask the running watch why heads are not read, or read them."""
    if not heads:
        return
    if running:
        try:
            answer = ask(depot.socket, Ask(ref=1, what="snapshot"))
        except ControlError:  # it ended meanwhile
            return
        if answer.snapshot is not None:
            yield from ((detector.id, detector.reason) for detector in answer.snapshot.detectors)
        return
    yield from ((one.detector, one.reason) for one in probe(depot, heads))


def _broker(settings: MqttSettings) -> Observation:
    reason = asyncio.run(_refusal(replace(settings, client_id=f"{settings.client_id}-doctor-{os.getpid()}")))
    values: dict[str, object] = {"place": f"{settings.host}:{settings.port}", "reason": reason}
    return Observation("broker_refuses", Health.BAD, values) if reason else Observation("broker", Health.GOOD, values)


async def _refusal(settings: MqttSettings) -> str:
    from aiomqtt import MqttError

    try:
        async with asyncio.timeout(BROKER_WITHIN_S), connected(settings, lambda _message: None):
            return ""
    except MqttError as error:
        return reason_of(error)
    except TimeoutError:
        return "no-answer"
