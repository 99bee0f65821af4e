"""``vigia register survey``: what is still to be told so that the laws can be judged, listed or asked one by one."""

import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway.commands.officetalk import ask_or_exit
from gateway.commands.talk import Talk, file_argument, json_option

if TYPE_CHECKING:
    from dashboards.conformity.phrases import Phrases


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def survey(file: Path, *, ask: bool, by: str | None, as_json: bool) -> None:
        from dashboards.office import Look

        if ask and not by:
            raise click.UsageError(talk.text("survey.needs_name"))
        from gateway.commands.locale import phrases_of

        depot, found = ask_or_exit(talk, file, Look(1, "survey"), as_json=as_json)
        if as_json:
            talk.put_json(found)
        elif ask:
            _ask_all(talk, file, found, str(by), phrases_of(talk.words.language, depot))
        else:
            _list(talk, found, phrases_of(talk.words.language, depot))
            _how(talk, found, file)

    params: list[click.Parameter] = [
        file_argument(),
        click.Option(["--ask"], is_flag=True, help=talk.text("survey.ask")),
        click.Option(["--by"], metavar="NAME", help=talk.text("register.by")),
        json_option(talk),
    ]
    return click.Command("survey", callback=survey, help=talk.text("survey.help"), params=params)


def _list(talk: Talk, found: Mapping[str, Any], phrases: "Phrases") -> None:
    talk.put(talk.text("survey.progress", told=found["told"], total=found["total"]))
    for one in _questions(found):
        talk.put(f"{_about(one, phrases)}: {_ask(talk, one)}{_why(talk, one, phrases)}")
    for one in found["due"]:
        talk.put(talk.text("survey.due", about=_about(one, phrases), ask=_ask(talk, one), day=phrases.day(one["due"])))


def _how(talk: Talk, found: Mapping[str, Any], file: Path) -> None:
    """Say how to answer, where something is open."""
    if found["groups"]:
        talk.say("survey.how", file=file)


def _ask_all(talk: Talk, file: Path, found: Mapping[str, Any], by: str, phrases: "Phrases") -> None:
    """Put each question; an empty answer is "I do not know" and leaves it open. Each answer is entered at once."""
    from dashboards.office import Enter, LineAsk

    questions = list(_questions(found))
    latest: dict[tuple[str, str], str] = {}
    entered = 0
    for number, one in enumerate(questions, start=1):
        about, why = _about(one, phrases), _why(talk, one, phrases)
        talk.say("survey.question", number=number, total=len(questions), about=about, why=why)
        answer = click.prompt(f"  {_ask(talk, one)}{_choices(talk, one)}", default="", show_default=False, err=True)
        if not answer.strip():
            continue
        thing = (one["register"], one["subject"])
        line = LineAsk(
            *thing, "record", {one["field"]: answer.strip(), **_pair(one)},
            id=secrets.token_hex(8), expect=latest.get(thing, one["expect"]),
        )  # fmt: skip
        _, data = ask_or_exit(talk, file, Enter(1, by, (line,)), as_json=False)
        latest[thing] = data["entered"][0]
        entered += 1
    talk.say("register.entered", count=entered)


def _questions(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for group in found["groups"]:
        yield from group["questions"]


def _about(one: Mapping[str, Any], phrases: "Phrases") -> str:
    return phrases.subject(f"{one['register']}:{one['subject']}")


def _ask(talk: Talk, one: Mapping[str, Any]) -> str:
    language = talk.words.language
    return str(one["ask"].get(language) or one["label"].get(language) or one["field"])


def _choices(talk: Talk, one: Mapping[str, Any]) -> str:
    if one["type"] == "boolean":
        return talk.text("survey.yes_no")
    words = [str(words.get(talk.words.language) or choice) for choice, words in one["choices"].items()]
    return f" [{' | '.join(words)}]" if words else ""


def _why(talk: Talk, one: Mapping[str, Any], phrases: "Phrases") -> str:
    because = one["because"]
    if one["state"] == "again" and because:
        what, day = _about(because, phrases), phrases.day(because["effective"])
        return talk.text("survey.again", what=what, by=because["by"], day=day)
    if one["state"] != "expired":
        return ""
    return talk.text("survey.expired", day=phrases.day(one["due"])) if one["due"] else talk.text("survey.newer")


def _pair(one: Mapping[str, Any]) -> dict[str, str]:
    """The two areas that a distance is between, which its record must have."""
    first, found, second = one["subject"].partition("|")
    return {"one": first, "other": second} if one["register"] == "between" and found else {}
