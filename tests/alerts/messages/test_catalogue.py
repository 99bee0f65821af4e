"""The catalogue of words: which language serves whom, and what a broken one is refused for."""

import re

import pytest

from alerts.messages.catalogue import LANGUAGES, Catalogue


def load(language: str) -> Catalogue:
    return Catalogue.load("alerts.messages", language)


def test_portuguese_comes_first() -> None:
    assert LANGUAGES[0] == "pt-BR"


@pytest.mark.parametrize("asked", ["pt-BR", "pt", "pt_BR", "pt-PT", "PT-br"])
def test_every_portuguese_is_served_by_the_one_written(asked: str) -> None:
    assert load(asked).language == "pt-BR"


def test_english_of_any_region_is_english() -> None:
    assert load("en-GB").language == "en"


def test_an_unwritten_language_is_refused_with_those_written() -> None:
    with pytest.raises(ValueError, match=r"'fr'.*pt-BR, en"):
        load("fr")


def test_nested_tables_are_dotted_keys() -> None:
    assert load("pt").text("drill.prefix") == "SIMULADO - "
    assert "what.journal.full" in load("pt")
    assert "what.journal" not in load("pt")


def test_a_missing_text_names_file_and_key() -> None:
    with pytest.raises(KeyError, match=r"alerts\.messages/en\.toml has no text 'gas\.exploded'"):
        load("en").text("gas.exploded")


def test_a_missing_value_names_text_and_placeholder() -> None:
    with pytest.raises(KeyError, match=r"'format\.amount' needs a value for 'value'"):
        load("en").text("format.amount")


def test_a_value_with_braces_stays_text() -> None:
    assert load("en").text("format.area", area="{level}{0}") == "area {level}{0}"


@pytest.mark.parametrize(("count", "told"), [(0, "0 erros"), (1, "1 erro"), (2, "2 erros")])
def test_a_word_agrees_with_its_count(count: int, told: str) -> None:
    words = Catalogue("words", "pt-BR", {"sick": "{count} {count:erro|erros}", "plain": "{count:02}"})
    assert words.text("sick", count=count) == told
    assert words.text("plain", count=count) == f"{count:02}"


@pytest.mark.parametrize("package", ["alerts.messages", "dashboards", "dashboards.conformity", "gateway.words"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_plural_is_put_in_brackets(package: str, language: str) -> None:
    texts = Catalogue.load(package, language).texts
    assert not [key for key, text in texts.items() if re.search(r"\w\((s|es|m|ões|is|ns)\)", text)]


ENGLISH = re.compile(r"\b(the|and|with|is|are|not|of|from|this|cannot|been|which|there|gateway|journal)\b")
QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|\b\w+\.\w+\b|\[\w+\]|[\w-]*-[\w-]+|\{[^}]*\}")


@pytest.mark.parametrize("package", ["alerts.messages", "dashboards", "dashboards.conformity", "gateway.words"])
def test_no_english_word_stands_in_a_portuguese_text(package: str) -> None:
    """What is typed as it stands is quoted: commands, keys, names of files."""
    texts = Catalogue.load(package, "pt-BR").texts
    found = {key: ENGLISH.findall(QUOTED.sub("", text)) for key, text in texts.items()}
    assert {key: words for key, words in found.items() if words} == {}


@pytest.mark.parametrize("package", ["alerts.messages", "dashboards", "gateway.words"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_value_in_per_cent_of_the_lel_stands_apart_from_its_unit(package: str, language: str) -> None:
    texts = Catalogue.load(package, language).texts
    assert not [key for key, text in texts.items() if re.search(r"[\d}](%| %(?=L))(LIE|LEL)", text)]


def test_both_languages_have_the_same_keys_and_placeholders() -> None:
    portuguese, *others = (load(language) for language in LANGUAGES)
    for other in others:
        assert set(other.texts) == set(portuguese.texts)
        for key in portuguese.texts:
            assert other.placeholders(key) == portuguese.placeholders(key), key


def test_no_text_is_empty_and_only_the_drill_mark_has_outer_spaces() -> None:
    for language in LANGUAGES:
        for key, text in load(language).texts.items():
            assert text.strip(), key
            assert text == text.strip() or key == "drill.prefix", key
