"""``vigia demo``: a depot that is not there, on real wires, watched by the real gateway."""

import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Event
from typing import Any, Final

import click

from alerts.messages.catalogue import Catalogue
from gateway.commands.numbers import Number
from gateway.commands.talk import Talk
from sensors.sentences import Sentence
from simulator import broker
from simulator.children import LOOK_S, Child, ChildError, Children
from simulator.clerk import DELIVERY, SIZE, Clerk
from simulator.depot_file import ForeignDepotError, Ports, read_ports, render, with_ports
from simulator.happenings import Happening, What
from simulator.lines import HOST
from simulator.people import People, alarms
from simulator.staging import (
    CALIBRATED_DAYS_AGO,
    LINKS,
    TRUTH_FILE,
    USUAL_PORT,
    Acts,
    Voice,
    child_words,
    chosen,
    folder_of,
    free_port,
    is_free,
    told_to_stop,
    unfit,
)
from simulator.summary import JournalUnreadableError, summarise
from simulator.yard import Scenario, Yard

VIGIA = "from gateway.cli import main; main()"
"""The `vigia` command of this very installation, wherever its script lies."""
JOURNAL = "var/journal.db"
PLAYABLE: Final = frozenset({What.POWER_CUT})
"""What the demo can do to its watch's machine; its clock and its disk are those of the person."""


def command(talk: Talk) -> click.Command:
    """Build the command; `talk` chooses the language."""
    voice = Voice(Catalogue.load("simulator.words", talk.words.language))

    def run(port: int | None, seconds: float | None, scenario: str, data: Path | None) -> None:
        played = chosen(voice, scenario)
        if beyond := unfit(played, PLAYABLE):
            what = ", ".join(voice.text(f"what.{each}") for each in beyond)
            raise click.UsageError(voice.text("refused.unfit", scenario=scenario, what=what))
        if module := broker.missing():
            raise click.ClickException(voice.text("refused.broker", module=module))
        if port and not is_free(port):
            raise click.ClickException(voice.text("refused.port", port=port))
        try:
            with told_to_stop() as stop:
                Demo(played, scenario, folder_of(data, "vigia-demo-"), voice).run(port, seconds, stop)
        except ChildError as error:
            raise click.ClickException(child_words(voice, error)) from error
        except OSError as error:
            reason = voice.spoken(error.strerror or str(error))
            raise click.ClickException(
                voice.text("refused.folder", folder=error.filename or data, reason=reason)
            ) from error

    return click.Command(
        "demo",
        callback=run,
        help=voice.text("demo.help"),
        params=[
            click.Option(["--port"], type=click.IntRange(0, 65535), help=voice.text("demo.port")),
            click.Option(["--for", "seconds"], type=Number(min=1), help=voice.text("demo.for")),
            click.Option(["--scenario"], default="leak", show_default=True, help=voice.text("demo.scenario")),
            click.Option(["--data"], type=click.Path(file_okay=False, path_type=Path), help=voice.text("demo.data")),
        ],
    )


class Demo:
    """One run in one folder."""

    def __init__(self, scenario: Scenario, scenario_name: str, folder: Path, voice: Voice) -> None:
        self._scenario = scenario
        self._scenario_name = scenario_name
        self._folder = folder
        self._file = folder / "depot.toml"
        self._voice = voice
        self._acts = Acts(scenario)

    def run(self, port: int | None, seconds: float | None, stop: Event) -> None:
        """Bring everything up, let it run, end it in order, sum it up.

        Raises:
            ChildError: if a child does not come up or ends by itself.
            click.ClickException: if the folder's depot.toml is not the demo's.
            OSError: if the folder cannot be written.
        """
        began = datetime.now(UTC)
        before = self._known_ports()
        web = self._page_port(port, before)
        failure: ChildError | None = None
        with Children() as children:
            plant, ports = self._plant(children, before, web)
            self._write(ports, before)
            self._watch_begins(children)
            try:
                children.wait(lambda: _answers(web), stop)
                if not stop.is_set():
                    self._taken_up(web)
                    plant.order("start")
                    self._acts.begin()
                    self._announce(web, seconds)
                people = People(self._scenario, web)
                clerk = None if before else Clerk(self._scenario.yard.area, web, lambda over: self._refused(web, over))
                _watch(children, seconds, stop, lambda: self._play(children, ports, people, clerk))
            except ChildError as error:
                failure = error
        self._sum_up(began)
        if failure:
            raise failure

    def _watch_begins(self, children: Children) -> None:
        children.start("gateway", "-c", VIGIA, "run", str(self._file), pipes=False)

    def _taken_up(self, web: int) -> None:
        """Say which alarms of an earlier run still stand."""
        standing = alarms(web)
        if standing:
            self._voice.say("demo.taken_up", count=len(standing))
        for alarm in standing:
            self._voice.say("demo.taken_up_one", text=_first_line(alarm, self._voice.language))

    def _refused(self, web: int, over: int) -> None:
        """Say which papers lie in the office, and that a delivery was not taken."""
        self._voice.say("demo.papers", page=f"http://{HOST}:{web}/conformidade")
        self._voice.say("demo.delivery", units=DELIVERY, size=SIZE, over=over)

    def _play(self, children: Children, ports: Ports, people: People, clerk: Clerk | None) -> None:
        """Let befall the broker and the watch's machine what is due, and people act."""
        for happening, begins in self._acts.due():
            self._voice.say("demo.befalls" if begins else "demo.is_over", what=self._named(happening))
            if happening.what is What.BROKER_GONE and begins:
                children.dismiss("broker")
            elif happening.what is What.BROKER_GONE:
                children.start("broker", "-m", "simulator.broker", str(ports.mqtt), pipes=True).ports()
            elif begins:
                children.dismiss("gateway", kill=True)
            else:
                self._watch_begins(children)
        people.act(self._acts.t_s)
        if clerk is not None:
            clerk.act()

    def _named(self, happening: Happening) -> str:
        return self._voice.text(f"what.{happening.what.value}")

    def _announce(self, web: int, seconds: float | None) -> None:
        ending = "demo.ends_with_key" if seconds is None else "demo.ends_after"
        self._voice.say(
            "demo.page",
            page=f"http://{HOST}:{web}/",
            title=self._scenario.title[self._voice.language],
            ending=self._voice.text(ending, seconds=f"{seconds or 0:g}"),
        )

    def _known_ports(self) -> Ports | None:
        if not self._file.exists():
            return None
        try:
            return read_ports(self._file.read_text(encoding="utf-8"), self._scenario.yard)
        except (ForeignDepotError, UnicodeDecodeError) as error:
            reason = error if isinstance(error, ForeignDepotError) else Sentence("it is no UTF-8 text")
            yard = self._scenario.yard.name
            said = self._voice.text("refused.foreign", file=self._file, yard=yard, reason=self._voice.spoken(reason))
            raise click.ClickException(said) from error

    def _page_port(self, asked: int | None, before: Ports | None) -> int:
        """Choose the page's port: the one asked for, else the former, else the usual one, else a free one."""
        if asked:
            return asked
        wanted = [before.web] if before else []
        if asked is None:
            wanted.append(USUAL_PORT)
        return next((port for port in wanted if is_free(port)), 0) or free_port()

    def _plant(self, children: Children, before: Ports | None, web: int) -> tuple[Child, Ports]:
        wanted_broker = [str(before.mqtt)] if before else []
        mqtt = children.start("broker", "-m", "simulator.broker", *wanted_broker, pipes=True).ports()["mqtt"]
        wanted = [f"--port={line}={number}" for line, number in before.lines.items()] if before else []
        links = self._folder / LINKS
        links.mkdir(exist_ok=True)
        wanted += [f"--record={self._folder / TRUTH_FILE}", f"--links={links}"]
        plant = children.start(
            "plant", "-m", "simulator.plant", self._scenario_name, f"--broker={mqtt}", *wanted, pipes=True
        )
        return plant, Ports(plant.ports(), mqtt, web)

    def _write(self, ports: Ports, before: Ports | None) -> None:
        if before is None:
            calibrated_on = datetime.now(UTC).date() - timedelta(days=CALIBRATED_DAYS_AGO)
            links = str(self._folder / LINKS)
            text = render(self._scenario.yard, ports, calibrated_on, self._voice.language, links)
            self._file.write_text(text, encoding="utf-8")
            self._voice.say("demo.wrote", file=self._file)
        elif ports == before:
            self._voice.say("demo.kept", file=self._file)
        else:
            self._file.write_text(with_ports(self._file.read_text(encoding="utf-8"), ports), encoding="utf-8")
            changed = _changed(before, ports, self._scenario.yard)
            self._voice.say("demo.kept_new_ports", file=self._file, ports=changed)

    def _sum_up(self, began: datetime) -> None:
        left = [name for name in (self._file.name, JOURNAL, TRUTH_FILE) if (self._folder / name).exists()]
        self._voice.say("demo.left", folder=self._folder, names=", ".join(left))
        try:
            summary = summarise(self._folder / JOURNAL, began)
        except JournalUnreadableError as error:
            self._voice.say("demo.unreadable", reason=self._voice.spoken(error))
            return
        count, worst = len(summary.alarms), summary.worst_ms
        key = "none_taken" if worst is None else "some"
        self._voice.say(f"summary.{key}" if count else "summary.none", count=count, worst=worst)
        if summary.missed and worst is not None:
            self._voice.say("summary.missed", count=summary.missed)


def _watch(children: Children, seconds: float | None, stop: Event, play: Callable[[], None]) -> None:
    """Wait for the end: told to, time up, or a child gone that should live."""
    end = time.monotonic() + seconds if seconds else None
    while not stop.wait(LOOK_S):
        children.check()
        if end and time.monotonic() >= end:
            return
        play()


def _first_line(alarm: Mapping[str, Any], language: str) -> str:
    """What a standing alarm says first, in this language."""
    text = alarm.get("text")
    said = text.get(language) if isinstance(text, dict) else text
    return str(said or alarm.get("subject")).splitlines()[0]


def _answers(port: int) -> bool:
    """Tell whether the gateway says of itself that it lives."""
    connection = HTTPConnection(HOST, port, timeout=1.0)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _changed(before: Ports, after: Ports, yard: Yard) -> str:
    pairs = [(line.id, before.lines[line.id], after.lines[line.id]) for line in yard.tcp_lines()]
    pairs += [("mqtt", before.mqtt, after.mqtt), ("web", before.web, after.web)]
    return ", ".join(f"{name} {old} → {new}" for name, old, new in pairs if old != new)


demo = command(Talk.of(os.environ))
"""What the entry point ``vigia.commands`` names."""
