"""The page of devices says what the profiles say."""

import re
from dataclasses import replace

import pytest

from sensors import device_page, profiles
from sensors.device_page import PAGE, page, within_three_seconds

TEXT = PAGE.read_text(encoding="utf-8")
UNKNOWN = "not known: the head may renew more slowly"
RENEW = "renew it: python -m sensors.device_page"


def test_the_page_of_devices_is_what_the_profiles_say():
    assert page(TEXT) == TEXT, RENEW


def test_every_shipped_profile_has_its_row():
    rows = set(re.findall(r"^\| `([a-z0-9-]+)` \|", TEXT, re.MULTILINE))
    assert rows == set(profiles.names()), RENEW


def test_what_is_left_out_is_not_shipped_and_has_a_reason():
    _, _, left_out = TEXT.partition("## Left out, and why")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in left_out.splitlines() if line.startswith("|")
    ][2:]
    assert rows
    titles = {profiles.load(name).title for name in profiles.names()}
    for device, why in rows:
        assert device not in titles
        assert len(why) > 20, device


def test_a_page_without_a_place_for_the_table_is_refused():
    with pytest.raises(ValueError, match="no place"):
        page("# Devices\n")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("draeger-polytron-8000", "yes"),
        ("honeywell-sensepoint-xrl", f"{UNKNOWN}; a number that stands still shows after 10 s"),
        ("shelly-gas", "its alarm when it is sent, its number every 15 s; that it died shows late or never"),
        ("carel-gdwb", f"{UNKNOWN}; its sensor needs 22 s for 90 %"),
        ("wellpro-wp3082adam", "not known: the head behind it may renew more slowly"),
        ("waveshare-relay", "-"),
    ],
)  # fmt: skip
def test_a_device_is_told_to_keep_the_promise_only_where_its_maker_says_how_fast_it_is(name, said):
    assert within_three_seconds(profiles.load(name)) == said


def test_a_head_that_renews_slowly_is_told_not_to_keep_the_promise():
    slow = replace(profiles.load("draeger-polytron-8000"), refresh_s=10.0)
    assert within_three_seconds(slow) == "no: renews every 10 s"


def test_every_kind_of_device_has_its_part_of_the_page():
    assert {profiles.load(name).kind for name in profiles.names()} <= set(device_page.HEADINGS)
