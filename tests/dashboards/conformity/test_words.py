"""The words of the office's pages: the same keys in both languages, and one for every unit and kind there is."""

import re
from importlib import resources

import pytest

from alerts.messages.catalogue import LANGUAGES, Catalogue
from compliance import catalogue, statutes
from dashboards.web.papers import all_words

FOLDER = resources.files("compliance") / "statutes"
NAMES = sorted(entry.name.removesuffix(".toml") for entry in FOLDER.iterdir() if entry.name.endswith(".toml"))


def test_both_languages_say_the_same_things() -> None:
    pt, en = (Catalogue.load("dashboards.conformity", language) for language in LANGUAGES)
    assert set(pt.texts) == set(en.texts)
    assert {key: pt.placeholders(key) for key in pt.texts} == {key: en.placeholders(key) for key in en.texts}


def test_no_page_of_the_office_takes_the_words_of_the_live_page() -> None:
    own = Catalogue.load("dashboards.conformity", "pt-BR").texts
    assert not own.keys() & Catalogue.load("dashboards", "pt-BR").texts.keys()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_unit_of_a_margin_has_a_word(name: str, language: str) -> None:
    words = all_words(language)
    units = {rule.margin.unit for rule in statutes.load(name).rules if rule.margin is not None}
    assert not {unit for unit in units if f"unit.{unit}" not in words}


def test_every_kind_of_thing_has_a_name_and_a_register() -> None:
    words = all_words("pt-BR")
    assert not {kind for kind in catalogue.load().kinds if f"thing.{kind}" not in words}


def test_the_templates_use_only_words_that_there_are() -> None:
    folder = resources.files("dashboards.web") / "templates"
    own = all_words("pt-BR")
    for file in folder.iterdir():
        for key in re.findall(r"""\bt\(["']([\w.-]+)["'][,)]""", file.read_text("utf-8")):
            assert key in own, f"{file.name}: {key}"
