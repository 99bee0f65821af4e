"""``vigia law``: which laws there are, what each clause asks and how it is held, and what they say of a depot."""

import time
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gateway.commands.lawhistory import history
from gateway.commands.reasons import why
from gateway.commands.talk import EXIT_CONFIG, EXIT_FAILED, Talk, file_argument, json_option, load_or_exit

if TYPE_CHECKING:
    from compliance.catalogue import Catalogue
    from compliance.entries import StatuteError
    from compliance.vocabulary import Fact, Statute
    from gateway.depot import Depot


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""
    group = click.Group("law", help=talk.text("command.law"))
    for build in (_list, _show, _coverage, _evaluate, history):
        group.add_command(build(talk))
    return group


def _list(talk: Talk) -> click.Command:
    def listed(*, as_json: bool) -> None:
        from gateway.commands import lawpages

        found = _statutes(talk)
        if as_json:
            talk.put_json([lawpages.statute_row(statute) for statute in found])
            return
        for statute in found:
            for line in lawpages.statute_lines(talk, statute):
                talk.put(line)

    return click.Command("list", callback=listed, help=talk.text("law.list"), params=[json_option(talk)])


def _show(talk: Talk) -> click.Command:
    def show(name: tuple[str, ...], law: str | None, *, as_json: bool) -> None:
        from compliance.overview import find
        from gateway.commands import lawpages

        chosen = [statute for statute in _statutes(talk) if law is None or law in statute.id]
        found = find(chosen, " ".join(name))
        if not found:
            talk.say("law.unknown", name=" ".join(name))
            click.get_current_context().exit(EXIT_FAILED)
        if as_json:
            talk.put_json([lawpages.page(one) for one in found])
            return
        for number, one in enumerate(found):
            for line in lawpages.page_lines(talk, one):
                talk.put(line)
            if number < len(found) - 1:
                talk.put("")

    return click.Command(
        "show",
        callback=show,
        help=talk.text("law.show"),
        params=[
            click.Argument(["name"], nargs=-1, required=True, metavar="ID"),
            click.Option(["--law"], metavar="ID", help=talk.text("law.law")),
            json_option(talk),
        ],
    )


def _coverage(talk: Talk) -> click.Command:
    def covered(law: str | None, *, as_json: bool) -> None:
        from compliance.overview import coverage
        from gateway.commands import lawpages

        chosen = [statute for statute in _statutes(talk) if law is None or law in statute.id]
        if not chosen:
            talk.say("law.unknown", name=law or "")
            click.get_current_context().exit(EXIT_FAILED)
        if as_json:
            talk.put_json([lawpages.coverage_row(row) for row in coverage(chosen)])
            return
        for line in lawpages.coverage_lines(talk, chosen):
            talk.put(line)

    return click.Command(
        "coverage",
        callback=covered,
        help=talk.text("law.coverage"),
        params=[click.Option(["--law"], metavar="ID", help=talk.text("law.law")), json_option(talk)],
    )


def _evaluate(talk: Talk) -> click.Command:
    def judge(
        file: Path,
        on: str,
        known: str,
        facts: Path | None,
        law: str | None,
        *,
        every: bool,
        strict: bool,
        as_json: bool,
    ) -> None:
        depot = load_or_exit(talk, file, as_json=as_json, secrets=False).depot
        from compliance import catalogue
        from compliance.evaluate import evaluate
        from compliance.situation import Situation
        from compliance.statutes import HOUSE
        from compliance.vocabulary import Verdict
        from gateway.commands import lawfindings
        from gateway.commands.locale import phrases_of
        from gateway.commissioning.bump_history import today

        packs = {statute.id: statute for statute in _statutes(talk)}
        chosen = [packs[name] for name in dict.fromkeys((*depot.laws, HOUSE)) if law is None or law in name]
        if not chosen:
            raise click.UsageError(talk.text("law.not_of_depot", name=law, laws=", ".join((*depot.laws, HOUSE))))
        listed = catalogue.load()
        now, day, until = today(depot), _day(talk, on, depot), _known(talk, known, depot)
        told = _facts(talk, depot, listed, day, until, facts)
        situation = Situation.of(told, listed, day)
        found = [finding for statute in chosen for finding in evaluate(statute, situation, day)]
        if as_json:
            talk.put_json(
                {"depot": depot.id, "on": day.isoformat(), "known": known or None, "configured_on": now.isoformat()}
                | lawfindings.evaluation(chosen, found)
            )
        else:
            phrases = phrases_of(talk.words.language, depot)
            if day < now:
                talk.put(phrases.locale.text("conformity.past", on=phrases.day(day.isoformat())))
            for line in lawfindings.finding_lines(talk, phrases, chosen, found, every=every):
                talk.put(line)
        if strict and any(finding.verdict is Verdict.VIOLATED for finding in found):
            click.get_current_context().exit(EXIT_FAILED)

    return click.Command(
        "evaluate",
        callback=judge,
        help=talk.text("law.evaluate"),
        params=[
            file_argument(),
            click.Option(["--on"], default="", metavar="DATE", help=talk.text("law.on")),
            click.Option(["--known"], default="", metavar="DATE", help=talk.text("law.known")),
            click.Option(["--facts"], type=click.Path(path_type=Path), help=talk.text("law.facts")),
            click.Option(["--law"], metavar="ID", help=talk.text("law.law")),
            click.Option(["--all", "every"], is_flag=True, help=talk.text("law.every")),
            click.Option(["--strict"], is_flag=True, help=talk.text("law.strict")),
            json_option(talk),
        ],
    )


def _statutes(talk: Talk) -> "tuple[Statute, ...]":
    """Every law there is; a wrong file is told and ends the command with 78."""
    from compliance import statutes

    try:
        return statutes.load_all()
    except statutes.StatuteError as error:
        talk.say("law.bad_file", error=_mistake(talk, error))
        click.get_current_context().exit(EXIT_CONFIG)


def _mistake(talk: Talk, error: "StatuteError | OSError") -> str:
    """What is wrong with a file of the law or of facts, in the person's words."""
    from gateway.words.sentences import law_mistake

    if isinstance(error, OSError):
        return f"{error.filename}: {why(talk, error.strerror or error)}"
    return law_mistake(talk.words, error)


def _facts(
    talk: Talk, depot: "Depot", listed: "Catalogue", day: date, known_ms: int | None, file: Path | None
) -> "list[Fact]":
    """Everything told of the depot. A journal that is not there yet is said; one that cannot be read ends it with 1."""
    from compliance import factfile
    from compliance.entries import StatuteError
    from gateway.journal.errors import StoreError
    from gateway.journal.reader import JournalReader
    from gateway.office.lawfacts import Asked, configured, measured, registered

    asked = Asked(day, time.time_ns() // 1_000_000, known_ms)
    told = list(configured(depot))
    if depot.journal.exists():
        try:
            with JournalReader(depot.journal) as journal:
                told += [*measured(depot, journal, asked), *registered(depot, journal, listed, asked)]
        except StoreError as error:
            talk.say("law.unread", reason=why(talk, error))
            click.get_current_context().exit(EXIT_FAILED)
    else:
        talk.say("law.no_journal", file=depot.journal)
    if file is not None:
        try:
            found = factfile.load(file.absolute().parent, file.name, listed, day)
        except (StatuteError, OSError) as error:
            talk.say("law.bad_facts", error=_mistake(talk, error))
            click.get_current_context().exit(EXIT_CONFIG)
        told += [fact for fact in found if known_ms is None or _recorded_by(fact, known_ms)]
    return told


def _recorded_by(fact: "Fact", known_ms: int) -> bool:
    return fact.recorded is None or fact.recorded <= datetime.fromtimestamp(known_ms / 1000, UTC)


def _day(talk: Talk, text: str, depot: "Depot") -> date:
    from gateway.commissioning.bump_history import today

    if not text:
        return today(depot)
    from gateway.office.asked import MomentError, day_of

    try:
        return day_of(text)
    except MomentError:
        raise click.UsageError(talk.text("law.bad_day", got=text)) from None


def _known(talk: Talk, text: str, depot: "Depot") -> int | None:
    """The end of a day, or a moment, by which it was recorded; None: by now."""
    if not text:
        return None
    from zoneinfo import ZoneInfo

    from gateway.commands.moments import moment
    from gateway.office.lawfacts import end_of

    if "T" in text or " " in text:
        return moment(talk, text, depot.timezone) * 1000
    return end_of(_day(talk, text, depot), ZoneInfo(depot.timezone))
