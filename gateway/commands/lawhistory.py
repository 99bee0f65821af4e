"""``vigia law history``: every step of a finding as the journal holds it, days gone by among them; running or not."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway.commands.reasons import why
from gateway.commands.talk import EXIT_FAILED, Talk, json_option, load_or_exit

if TYPE_CHECKING:
    from dashboards.conformity.phrases import Phrases
    from gateway.depot import Depot


def history(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def tell(file: Path, rule: str, subject: str, *, as_json: bool) -> None:
        depot = load_or_exit(talk, file, as_json=as_json, secrets=False).depot
        from gateway.commands.locale import phrases_of

        found = _steps(talk, depot, rule, subject)
        if as_json:
            talk.put_json(found)
            return
        for line in _lines(found, phrases_of(talk.words.language, depot)):
            talk.put(line)

    return click.Command(
        "history",
        callback=tell,
        help=talk.text("law.history"),
        params=[
            click.Argument(["file"], metavar="depot.toml", type=click.Path(path_type=Path)),
            click.Argument(["rule"], metavar="ID"),
            click.Argument(["subject"], default="", metavar="[area:ID]"),
            json_option(talk),
        ],
    )


def _steps(talk: Talk, depot: "Depot", rule: str, subject: str) -> Sequence[Mapping[str, Any]]:
    """The steps in the journal, oldest first. A rule the depot is not held against, or no journal, ends it with 1."""
    from gateway.journal.errors import StoreError
    from gateway.office.books import Books

    books = Books(depot)
    if rule not in books.judge.rules:
        talk.say("law.unknown_rule", name=rule)
        click.get_current_context().exit(EXIT_FAILED)
    try:
        books.catch_up()
        return books.finding(rule, subject)
    except StoreError as error:
        talk.say("law.unread", reason=why(talk, error))
        click.get_current_context().exit(EXIT_FAILED)


def _lines(found: Sequence[Mapping[str, Any]], phrases: "Phrases") -> Iterator[str]:
    from dashboards.conformity.findings import steps

    text = phrases.locale.text
    if not found:
        yield text("conformity.no_history")
    for subject, changes in groupby(sorted(found, key=lambda one: one["subject"]), key=lambda one: one["subject"]):
        yield f"{phrases.subject(subject)}  [{subject}]"
        for step in steps(changes, phrases):
            yield f"  {step.on}: {step.badge.word}"
            if step.because:
                yield f"      {text('conformity.because', causes='; '.join(step.because))}"
