"""Statutes as they are loaded: what the shipped ones ask for, and what a file is refused for."""

from datetime import date
from pathlib import Path

import pytest

from compliance import statutes
from compliance.statutes import StatuteError
from compliance.vocabulary import Detection, StatuteKind


def test_every_shipped_statute_loads_under_its_own_name() -> None:
    assert {statutes.HOUSE, "ferraz-de-vasconcelos-3190-2013"} <= set(statutes.names())
    assert [statutes.load(name).id for name in statutes.names()] == list(statutes.names())


def test_ferraz_asks_for_a_tenth_of_the_lel_in_three_seconds_above_class_two() -> None:
    law = statutes.load("ferraz-de-vasconcelos-3190-2013")

    assert law.kind is StatuteKind.STATUTE
    assert law.period.since == date(2013, 11, 11)
    assert law.detection == Detection("Art. 6 II c", 10, 3, 1560)
    assert not law.detection.binds(1560)
    assert law.detection.binds(1560.5)


def test_campina_asks_for_detection_without_level_or_time() -> None:
    assert statutes.load("campina-grande-do-sul-15-2002").detection == Detection("Art. 9", None, None, 6240)


def test_paraiba_has_no_detection_clause() -> None:
    law = statutes.load("paraiba-9427-2011")

    assert law.detection is None
    assert law.period.since == date(2011, 10, 11)


def test_the_house_rule_binds_every_area_and_always() -> None:
    house = statutes.load(statutes.HOUSE)

    assert house.kind is StatuteKind.HOUSE
    assert house.period.since is None
    assert house.detection is not None
    assert house.detection.binds(1)
    assert (house.detection.set_point_lel_pct, house.detection.within_s) == (10, 3)


GOOD = """\
[statute]
id = "x"
title = "t"
citation = "c"
kind = "statute"
in_force_from = 2020-01-01
[detection]
clause = "1"
within_s = 3
"""


@pytest.mark.parametrize(
    ("old", "new", "key", "expected", "got"),
    [
        ('id = "x"', 'id = "y"', "statute.id", "'x'", "'y'"),
        ('title = "t"', "", "statute.title", "text", "nothing"),
        ('kind = "statute"', 'kind = "law"', "statute.kind", "statute, reference, house", "'law'"),
        ("2020-01-01", '"2020-01-01"', "statute.in_force_from", "a date", "'2020-01-01'"),
        ("2020-01-01", "2020-01-01T00:00:00", "statute.in_force_from", "a date", "datetime"),
        ("within_s = 3", "within_s = -3", "detection.within_s", "0 or more", "-3"),
        ("within_s = 3", "within_s = true", "detection.within_s", "a number", "True"),
        ("within_s = 3", "set_point_lel_pct = 100", "detection.set_point_lel_pct", "between 0 and 100", "100"),
        ("within_s = 3", "withn_s = 3", "detection.withn_s", "within_s", "unknown"),
        ('clause = "1"', "", "detection.clause", "text", "nothing"),
        ("[detection]", "[other]", "other", "only statute, detection", "unknown"),
        ("[statute]", "[statut]", "statut", "only statute, detection", "unknown"),
        ("[statute]", "[statute", "", "TOML", "line 1"),
    ],
)
def test_a_mistake_names_file_key_expected_and_got(
    tmp_path: Path, old: str, new: str, key: str, expected: str, got: str
) -> None:
    (tmp_path / "x.toml").write_text(GOOD.replace(old, new), "utf-8")
    with pytest.raises(StatuteError) as refused:
        statutes.load("x", tmp_path)

    assert (refused.value.file, refused.value.key) == ("x.toml", key)
    assert expected in refused.value.expected
    assert got in refused.value.got
    assert str(refused.value).startswith(f"x.toml: {key}" if key else "x.toml: expected TOML")


def test_an_unknown_statute_names_those_there_are() -> None:
    with pytest.raises(StatuteError, match=r"nowhere\.toml: expected one of campina.*got no such statute"):
        statutes.load("nowhere")
