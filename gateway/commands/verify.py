"""``vigia verify``: recompute a journal, or a proof of one, and name whatever is wrong with it."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gateway.commands.talk import EXIT_FAILED, Talk, json_option

if TYPE_CHECKING:
    from gateway.journal.audit import Audit


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def verify(file: Path, vkey: str | None, kept: Path | None, *, as_json: bool) -> None:
        from gateway.journal import audit
        from gateway.journal.errors import AbsentError, StoreError
        from gateway.words.sentences import spoken

        try:
            outside = None if kept is None else audit.read_note(kept)
            found = audit.judge(file, vkey=vkey, outside=outside)
        except AbsentError as error:
            found = audit.Audit("", 0, 0, 0, "", (talk.text("verify.absent", path=error.where),))
        except StoreError as error:
            found = audit.Audit("", 0, 0, 0, "", (spoken(talk.words, error),))
        problems = [spoken(talk.words, problem) for problem in found.problems]
        if as_json:
            talk.put_json(
                {
                    "ok": not found.problems,
                    "depot": found.depot,
                    "first": found.first,
                    "entries": found.count,
                    "signed": found.signed,
                    "vkey": found.vkey,
                    "problems": problems,
                }
            )
        else:
            _tell(talk, file, found, problems, compared=vkey is not None or kept is not None)
        if found.problems:
            click.get_current_context().exit(EXIT_FAILED)

    path = click.Path(path_type=Path)
    params: list[click.Parameter] = [
        click.Argument(["file"], type=path),
        click.Option(["--vkey"], help=talk.text("verify.vkey")),
        click.Option(["--checkpoint", "kept"], type=path, help=talk.text("verify.checkpoint")),
        json_option(talk),
    ]
    return click.Command("verify", callback=verify, help=talk.text("command.verify"), params=params)


def _tell(talk: Talk, file: Path, found: "Audit", problems: list[str], *, compared: bool) -> None:
    for problem in problems:
        talk.put(problem)
    if problems:
        talk.say("verify.unsound", file=file, count=len(problems))
        return
    last = found.first + found.count - 1
    talk.put(talk.text("verify.sound", depot=found.depot, first=found.first, last=last, signed=found.signed))
    if found.vkey:
        talk.put(talk.text("verify.key", vkey=found.vkey))
    if not compared:
        talk.say("verify.compare")
