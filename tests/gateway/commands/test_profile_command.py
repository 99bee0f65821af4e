"""``vigia profile``: what it lists, refuses with its line, and decodes without a device."""

import json
from pathlib import Path

from click.testing import Result
from field_command import vigia_here

from sensors import profiles


def vigia(*args: str | Path) -> Result:
    return vigia_here("profile", *args)


def test_list_names_every_shipped_profile_with_how_far_it_is_verified() -> None:
    rows = json.loads(vigia("list", "--json").stdout)
    assert [row["id"] for row in rows] == list(profiles.names())
    assert all(row["verification"] in ("verified", "partly", "assumed", "site") for row in rows)
    assert "honeywell-touchpoint-pro" in vigia("list").stdout


def test_check_names_what_the_site_must_set_and_what_nobody_states() -> None:
    said = vigia("check", "msa-ultima-x")
    assert said.exit_code == 0
    assert "must set: channel" in said.stdout
    assert "check it on the first device: points.word_order" in said.stdout


def test_check_refuses_a_mistake_with_file_line_and_what_would_be_right(tmp_path: Path) -> None:
    file = tmp_path / "meu.toml"
    file.write_text(
        'format = 1\nid = "meu"\nwire = "modbus"\n\n[points]\nregister = 1\n\n'
        "[[points.states]]\nregister = 2\nbits = { fault = 0 }\n\n"
        "[[points.states]]\nregister = 3\nbits = { falt = 0 }\n"
    )
    said = vigia("check", file)
    assert said.exit_code == 78
    assert f"{file}:14: points.states.1.bits.falt: expected 'fault', got no such key" in said.stderr
    problem = json.loads(vigia("check", file, "--json").stdout)["problems"][0]
    assert (problem["line"], problem["key"]) == (14, "points.states.1.bits.falt")


def test_try_shows_each_place_and_the_reading() -> None:
    said = vigia("try", "rki-beacon-410", "--set", "channel=1", "--registers", "0=0,1=0x0202,4=125,5=1,13=%LEL")
    assert said.exit_code == 0
    assert "decimals: holding 5 = 1" in said.stdout
    assert "raw 125 -> 12.50 % LEL; state: Normal; quality good" in said.stdout


def test_try_tells_tables_apart_where_a_profile_reads_two() -> None:
    head = "head={range_lel_pct=[0,100]}"
    said = vigia(
        "try", "waveshare-8ai", "--set", "channel=1", "--set", head, "--registers", "input:0=5600",
        "--registers", "holding:4096=2", "--json",
    )  # fmt: skip
    assert json.loads(said.stdout)[0]["lel_pct"] == 10.0


def test_try_tells_what_was_given_for_nothing_and_what_was_not_given() -> None:
    said = vigia("try", "rki-m2a", "--registers", "0=0x207D,19=%LEL,40001=8192")
    assert "states.0: holding 1 = 0 fault (not given: counts as 0)" in said.stdout
    assert "value: holding 0 = 125\n" in said.stdout
    assert "does not read the registers 40001" in said.stderr
    right = vigia("try", "rki-m2a", "--registers", "0=0x207D,1=0x2000,19=%LEL")
    assert "given" not in right.stdout + right.stderr


def test_try_reads_a_message() -> None:
    said = vigia("try", "z2m-heiman-hs1cg", "--payload", '{"gas": true}', "--json")
    assert json.loads(said.stdout)[0] | {"raw": None} == {
        "lel_pct": None,
        "at_least": 25.0,
        "status": "measuring",
        "quality": "good",
        "reason": "",
        "raw": None,
    }


def test_try_says_when_a_message_does_not_speak_of_gas() -> None:
    said = vigia("try", "z2m-heiman-hs1cg", "--payload", '{"battery_low": true}')
    assert said.exit_code == 1
    assert "do not speak of the gas" in said.stderr


def test_try_refuses_what_is_no_register_or_no_setting() -> None:
    assert vigia("try", "rki-m2a", "--registers", "zero").exit_code == 2
    assert vigia("try", "rki-m2a", "--registers", "0=70000").exit_code == 2
    assert vigia("try", "rki-m2a", "--registers", "coils:0=1").exit_code == 2
    assert vigia("try", "rki-m2a").exit_code == 2
    missing = vigia("try", "rki-beacon-410", "--registers", "0=1")
    assert missing.exit_code == 78
    assert "channel: expected a value, got nothing" in missing.stderr


def test_an_output_is_no_detector_to_try() -> None:
    said = vigia("try", "waveshare-relay", "--registers", "0=1")
    assert said.exit_code == 78
    assert "expected a profile of a detector" in said.stderr
