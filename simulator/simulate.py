"""``vigia simulate``: a scenario on real wires for anybody's gateway, with a depot.toml that `vigia run` can use."""

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any, Final

import click

from alerts.messages.catalogue import Catalogue
from gateway.commands.numbers import Number
from gateway.commands.talk import Talk, json_option
from simulator import broker
from simulator.children import LOOK_S, ChildError, Children
from simulator.depot_file import Ports, render
from simulator.happenings import What
from simulator.lines import HOST
from simulator.scenario import load, names
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
)
from simulator.yard import Scenario

FASTEST: Final = 100.0


def command(talk: Talk) -> click.Command:
    """Build the command; `talk` chooses the language."""
    voice = Voice(Catalogue.load("simulator.words", talk.words.language))

    def run(scenario: str | None, as_list: bool, as_json: bool, **given: Any) -> None:  # noqa: ANN401 - click's options
        if as_list or scenario is None:
            if not as_list:
                raise click.UsageError(voice.text("refused.no_scenario", names=", ".join(names())))
            _put_list(voice, as_json=as_json)
            return
        played = chosen(voice, scenario)
        if played.yard.mqtt_heads() and (module := broker.missing()):
            raise click.ClickException(voice.text("refused.broker", module=module))
        try:
            with told_to_stop() as stop:
                folder = folder_of(given["data"], "vigia-simulate-")
                served = Served(played, scenario, folder, voice, given["speed"], as_json=as_json)
                served.run(given["port"], given["seconds"], stop)
        except ChildError as error:
            raise click.ClickException(child_words(voice, error)) from error
        except OSError as error:
            reason = voice.spoken(error.strerror or str(error))
            raise click.ClickException(
                voice.text("refused.folder", folder=error.filename or given["data"], reason=reason)
            ) from error

    return click.Command(
        "simulate",
        callback=run,
        help=voice.text("simulate.help"),
        params=[
            click.Argument(["scenario"], required=False),
            click.Option(["--list", "as_list"], is_flag=True, help=voice.text("simulate.list")),
            click.Option(["--port"], type=click.IntRange(1, 65500), help=voice.text("simulate.port")),
            click.Option(["--for", "seconds"], type=Number(min=1), help=voice.text("demo.for")),
            click.Option(
                ["--speed"],
                type=Number(0.01, FASTEST),
                default=1.0,
                show_default=True,
                help=voice.text("simulate.speed"),
            ),
            click.Option(
                ["--data"], type=click.Path(file_okay=False, path_type=Path), help=voice.text("simulate.data")
            ),
            json_option(talk),
        ],
    )


def _put_list(voice: Voice, *, as_json: bool) -> None:
    scenarios = [load(name) for name in names()]
    if as_json:
        click.echo(json.dumps([_told(each) for each in scenarios], ensure_ascii=False, indent=2))
        return
    for each in scenarios:
        click.echo(f"{each.name:22} {each.title[voice.language]}")


def _told(scenario: Scenario) -> dict[str, object]:
    return {
        "name": scenario.name,
        "title": dict(scenario.title),
        "description": dict(scenario.description),
        "yard": scenario.yard.name,
        "lasts_s": scenario.lasts_s,
        "heads": len(scenario.yard.heads),
        "expected": [str(each) for each in scenario.expected],
    }


@dataclass(slots=True)
class Served:
    """One scenario served from one folder."""

    scenario: Scenario
    name: str
    folder: Path
    voice: Voice
    speed: float
    as_json: bool
    _heard: int = 0

    def run(self, port: int | None, seconds: float | None, stop: Event) -> None:
        """Serve until told to stop, or for so many seconds.

        Raises:
            ChildError: if a child does not come up or ends by itself.
            OSError: if the folder cannot be written, or a wanted port is taken.
        """
        truth = self.folder / TRUTH_FILE
        self._heard = truth.stat().st_size if truth.exists() else 0
        acts = Acts(self.scenario, self.speed)
        end = time.monotonic() + seconds if seconds else None
        with Children() as children:
            ports = self._serve(children, port)
            self._announce(ports)
            while not stop.wait(LOOK_S) and not (end and time.monotonic() >= end):
                children.check()
                self._follow(truth, acts)
                self._act(children, ports, acts)

    def _serve(self, children: Children, port: int | None) -> Ports:
        wanted = self._wanted(port)
        mqtt = 0
        options = [f"--record={self.folder / TRUTH_FILE}", f"--speed={self.speed:g}", "--on-contact"]
        if self.scenario.yard.mqtt_heads():
            asked = [str(wanted.mqtt)] if wanted.mqtt else []
            mqtt = children.start("broker", "-m", "simulator.broker", *asked, pipes=True).ports()["mqtt"]
            options.append(f"--broker={mqtt}")
        links = self.folder / LINKS
        links.mkdir(exist_ok=True)
        options.append(f"--links={links}")
        options += [f"--port={line}={number}" for line, number in wanted.lines.items()]
        plant = children.start("plant", "-m", "simulator.plant", self.name, *options, pipes=True)
        return Ports(plant.ports(), mqtt, wanted.web)

    def _wanted(self, port: int | None) -> Ports:
        """The ports from the wanted one on, in order: the lines, the broker; the page's is a usual or a free one."""
        lines = [line.id for line in self.scenario.yard.tcp_lines()]
        web = USUAL_PORT if is_free(USUAL_PORT) else free_port()
        if port is None:
            return Ports({}, 0, web)
        for number in range(port, port + len(lines) + 1):
            if not is_free(number):
                raise click.ClickException(self.voice.text("refused.taken", port=number))
        return Ports({line: port + at for at, line in enumerate(lines)}, port + len(lines), web)

    def _announce(self, ports: Ports) -> None:
        file = self.folder / "depot.toml"
        if not file.exists() or file.read_text(encoding="utf-8").startswith(OURS):
            calibrated_on = datetime.now(UTC).date() - timedelta(days=CALIBRATED_DAYS_AGO)
            links = str(self.folder / LINKS)
            text = render(self.scenario.yard, ports, calibrated_on, self.voice.language, links)
            file.write_text(f"{OURS}\n{text}", encoding="utf-8")
        else:
            raise click.ClickException(self.voice.text("refused.kept", file=file))
        addresses = [
            {
                "id": line.id,
                "transport": line.transport,
                "address": f"{HOST}:{ports.lines[line.id]}"
                if line.transport == "tcp"
                else str(self.folder / LINKS / line.id),
            }
            for line in self.scenario.yard.lines
        ]
        broker_at = f"{HOST}:{ports.mqtt}" if ports.mqtt else None
        if self.as_json:
            told = {
                "scenario": self.scenario.name,
                "lines": addresses,
                "mqtt": broker_at,
                "depot": str(file),
                "truth": str(self.folder / TRUTH_FILE),
            }
            click.echo(json.dumps(told, ensure_ascii=False))
        else:
            for each in addresses:
                click.echo(f"{each['id']:12} {each['transport']:4} {each['address']}")
            if broker_at:
                click.echo(f"{'mqtt':12} mqtt {broker_at}")
            click.echo(f"{'depot.toml':12} {file}")
        self.voice.say("simulate.waits", title=self.scenario.title[self.voice.language], file=file)

    def _follow(self, truth: Path, acts: Acts) -> None:
        """Say what the plant has written to its record since."""
        if not truth.exists():
            return
        with truth.open("rb") as file:
            file.seek(self._heard)
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._heard += len(whole)
        for line in whole.splitlines():
            self._say(json.loads(line), acts)

    def _say(self, line: Mapping[str, Any], acts: Acts) -> None:
        match line["what"]:
            case "start":
                acts.begin()
                self.voice.say("simulate.begins")
            case "shows":
                facts = {"detector": line["detector"], "value": f"{line['set_point']:g}", "t": f"{line['t_s']:.0f}"}
                self.voice.say("simulate.shows", **facts)
            case "siren":
                self.voice.say("simulate.siren_on" if line["on"] else "simulate.siren_off")
            case "befalls" | "is over" if line["target"]:
                key = "simulate.befalls" if line["what"] == "befalls" else "simulate.is_over"
                what = self.voice.text(f"what.{line['event']}")
                self.voice.say(key, what=what, target=line["target"], t=f"{line['t_s']:.0f}")
            case _:
                pass

    def _act(self, children: Children, ports: Ports, acts: Acts) -> None:
        """Let the broker go and come; say what the person must do to the machine of the watch."""
        for happening, begins in acts.due():
            what = self.voice.text(f"what.{happening.what.value}")
            if happening.what is not What.BROKER_GONE:
                self.voice.say("simulate.yours" if begins else "simulate.yours_over", what=what)
                continue
            self.voice.say("demo.befalls" if begins else "demo.is_over", what=what)
            if begins:
                children.dismiss("broker")
            else:
                children.start("broker", "-m", "simulator.broker", str(ports.mqtt), pipes=True).ports()


OURS: Final = "# Written by `vigia simulate`; written anew at its next start."

simulate = command(Talk.of(os.environ))
"""What the entry point ``vigia.commands`` names."""
