"""What a command says of an entry that nobody has confirmed: with which command to look whether it went in."""

import pytest

from alerts.messages.catalogue import Catalogue
from dashboards.office import Attach, Enter, Import, LineAsk, Look
from gateway.commands.officetalk import _look_with


@pytest.mark.parametrize(
    ("ask", "command"),
    [
        (Enter(1, "Ana", (LineAsk("document", "alvara"),)), "vigia register history depot.toml document alvara"),
        (Enter(1, "Ana", (LineAsk("stock", "patio", "in"),)), "vigia register history depot.toml stock patio"),
        (Import(1, "Ana", "extinguisher", b""), "vigia register show depot.toml extinguisher"),
        (Import(1, "Ana", "stock", b""), "vigia stock show depot.toml"),
    ],
)
def test_an_entry_without_an_answer_is_told_with_the_command_that_shows_it(
    ask: Enter | Import | Attach | Look, command: str
) -> None:
    assert _look_with(ask) == command
    for language in ("pt-BR", "en"):
        assert command in Catalogue.load("gateway.words", language).text("register.office_unsettled", look=command)


@pytest.mark.parametrize("error", ["busy", "starting", "failed", "bad-request"])
def test_every_answer_of_an_office_that_cannot_has_words_without_its_code(error: str) -> None:
    for language in ("pt-BR", "en"):
        key = f"register.office_{error}".replace("-", "_")
        assert error not in Catalogue.load("gateway.words", language).text(key, detail="?")
