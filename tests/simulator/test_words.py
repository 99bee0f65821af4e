"""The words of the simulator say the same in both languages."""

from alerts.messages.catalogue import LANGUAGES, Catalogue


def test_both_languages_say_the_same_things_with_the_same_facts():
    first, *others = (Catalogue.load("simulator.words", language) for language in LANGUAGES)
    for other in others:
        assert set(other.texts) == set(first.texts)
        for key in first.texts:
            assert other.placeholders(key) == first.placeholders(key), key
