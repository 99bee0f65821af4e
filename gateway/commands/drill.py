"""``vigia drill``: has the running gateway test its outputs, and shows what was read back of each."""

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway.commands.reasons import why
from gateway.commands.talk import EXIT_FAILED, Talk, file_argument, json_option, load_or_exit
from gateway.engine.outputtests import UNFINISHED

if TYPE_CHECKING:  # the journal, which `--help` does not need
    from gateway.depot import Depot
    from gateway.journal import JournalReader

MOST_NAME, MOST_NOTE = 80, 500
LONGEST_EACH_S = 15.0
"""A pulse of at most 10 s and both its read-backs."""

LOOK_S = 0.05


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def drill(file: Path, outputs: tuple[str, ...], *, by: str, note: str, tell: bool, as_json: bool) -> None:
        depot = load_or_exit(talk, file, as_json=as_json, secrets=False).depot
        wanted = outputs or tuple(output.id for output in depot.outputs if output.row.counts)
        known = [output.id for output in depot.outputs if not output.row.held]
        strange = [name for name in wanted if name not in known]
        if strange or not (wanted or tell):
            raise click.UsageError(
                talk.text("drill.unknown", ids=", ".join(strange) or "-", known=", ".join(known) or "-")
            )
        if not 0 < len(by.strip()) <= MOST_NAME or len(note) > MOST_NOTE:
            raise click.UsageError(talk.text("bump.too_long", name=MOST_NAME, note=MOST_NOTE))
        from dashboards.ports import Drill
        from gateway.asking import ask
        from gateway.journal import JournalReader, StoreError
        from gateway.machine.sockets import ControlError

        try:
            with JournalReader(depot.journal) as reader:
                start = reader.head()[1]
                answer = ask(depot.socket, Drill(1, by.strip(), wanted, note, tell))
                if not answer.ok:
                    told = answer.error if answer.error == "not-possible" else "refused"
                    talk.say(f"drill.{told}", reason=answer.error)
                    click.get_current_context().exit(EXIT_FAILED)
                if wanted:
                    talk.say("drill.begun", outputs=", ".join(wanted))
                if tell:
                    talk.say("drill.told")
                results = list(results_of(reader, start, wanted))
        except (ControlError, StoreError) as error:
            talk.say("drill.not-running", detail=why(talk, error))
            click.get_current_context().exit(EXIT_FAILED)
        if not tell_results(talk, depot, wanted, results, as_json=as_json):
            click.get_current_context().exit(EXIT_FAILED)

    params: list[click.Parameter] = [
        file_argument(),
        click.Option(["--output", "outputs"], multiple=True, metavar="ID", help=talk.text("drill.output")),
        click.Option(["--by"], required=True, metavar=talk.text("bump.name"), help=talk.text("drill.by")),
        click.Option(["--note"], default="", help=talk.text("bump.note")),
        click.Option(["--tell"], is_flag=True, help=talk.text("drill.tell")),
        json_option(talk),
    ]
    return click.Command("drill", callback=drill, help=talk.text("command.drill"), params=params)


def tell_results(
    talk: Talk, depot: "Depot", wanted: Sequence[str], results: Sequence[Mapping[str, Any]], *, as_json: bool
) -> bool:
    """Show how each output did, and of a test that was broken off what it had proved; return whether all passed."""
    missing = [name for name in wanted if name not in {str(body["output"]) for body in results}]
    passed = [str(body["output"]) for body in results if _passed(body)]
    cut = next((str(body["reason"]) for body in results if body["reason"] in UNFINISHED), "")
    ok = len(passed) == len(wanted)
    if as_json:
        talk.put_json({"ok": ok, "outputs": list(results), "broken_off": cut, "untested": missing})
    else:
        for body in results:
            talk.put(_line(talk, body, depot))
    if cut:
        proved = ", ".join(passed) or talk.text("drill.none")
        unproved = ", ".join(name for name in wanted if name not in passed)
        talk.say(f"drill.ended_{cut}", passed=proved, missing=unproved)
    for name in missing if not cut else ():
        talk.say("drill.missing", id=name)
    return ok


def results_of(reader: "JournalReader", start: int, wanted: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
    """Yield each test as the journal takes it, until all have ended, or gas or new orders have ended them."""
    after, left = start - 1, len(wanted)
    deadline = time.monotonic() + LONGEST_EACH_S * left
    while left and time.monotonic() < deadline:
        for idx, body, _ in reader.filed("output-test", after):
            after, left = idx, left - 1
            yield body
            if body["reason"] in UNFINISHED:
                return
        time.sleep(LOOK_S)


def _passed(body: Mapping[str, Any]) -> bool:
    return bool(body["ok"]) and body["reason"] not in UNFINISHED


def _line(talk: Talk, body: Mapping[str, Any], depot: "Depot") -> str:
    width = max(len(output.id) for output in depot.outputs)
    unfinished = "broken" if body["reason"] in UNFINISHED else "failed"
    verdict = talk.text("drill.passed" if _passed(body) else f"drill.{unfinished}")
    if body["reason"]:
        why = talk.text(f"drill.why_{body['reason']}")
    else:
        why = talk.text("drill.read", time=talk.number(body["until_on_ms"] / 1000, 2))
    return f"{body['output']:<{width}}  {verdict}: {why}"
