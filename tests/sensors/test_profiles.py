"""Profiles: what is shipped, what an installation may set, and what is said of mistakes."""

import struct
from pathlib import Path

import pytest

from sensors import profiles
from sensors.profiles import Profile, ProfileError
from sensors.readings import DetectorId, Quality, Reading, Status
from sensors.stamps import Instant, Stamp, UtcNanos
from sensors.wire.meanings import Meaning
from sensors.wire.payload_points import FieldPoint, PayloadPoints, PayloadState
from sensors.wire.places import Function, Place, Type, WordOrder
from sensors.wire.points import ModbusPoints, StatePoint
from sensors.wire.registers import InstalledHead, plan
from sensors.wire.units import Basis, UnitOfValue

GENERIC = profiles.load("generic-modbus")
SITE = """\
format = 1
id = "da-casa"
wire = "modbus"
requires = ["register"]
accepts = ["full_scale"]

[timing]
refresh_s = 1.5

[points]
type = "float32"
word_order = "CDAB"
"""


def site(tmp_path: Path, text: str = SITE) -> Path:
    file = tmp_path / "da-casa.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_the_shipped_profiles_load_and_tell_where_they_come_from():
    assert {"generic-modbus", "mqtt-json", "honeywell-sensepoint-xcd"} <= set(profiles.names())
    for name in profiles.names():
        profile = profiles.load(name)
        assert profile.id == name
        assert profile.provenance.note
        assert profile.provenance.verification == "site" or profile.provenance.sources
        assert (profile.points is None) == bool(profile.requires or not profile.is_detector)


def test_a_generic_head_takes_every_setting_of_the_contract():
    installed = GENERIC.installed(
        {
            "register": 10,
            "function": "input",
            "type": "int32",
            "word_order": "CDAB",
            "scale": 0.1,
            "offset": -10,
            "unit_of_value": "ppm",
            "full_scale": 20000,
            "zero_drift": 500,
            "refresh_s": 2,
            "sentinels": {"fault": [-1], "over_range": [99999], "under_range": [-2], "warm_up": [-3]},
            "status_register": 12,
            "bits": {
                "fault": [0],
                "warm_up": [1],
                "inhibited": [2],
                "calibrating": [3],
                "over_range": [4],
                "alarm": [5, 6],
            },
        }
    )
    assert installed.refresh_s == 2.0
    assert installed.points == ModbusPoints(
        Function.INPUT,
        10,
        Type.INT32,
        WordOrder.CDAB,
        scale=0.1,
        offset=-10.0,
        unit_of_value=UnitOfValue.PPM,
        full_scale=20000.0,
        zero_drift=500.0,
        sentinels=((-1, -1, "fault"), (99999, 99999, "over_range"), (-2, -2, "under_range"), (-3, -3, "warm_up")),
        states=(
            StatePoint(
                Place(Function.INPUT, 12),
                Meaning(
                    bits=(
                        ("fault", 1),
                        ("warm_up", 2),
                        ("inhibited", 4),
                        ("calibrating", 8),
                        ("over_range", 16),
                        ("alarm", 96),
                    )
                ),
            ),
        ),
    )


def test_a_json_head_takes_the_fields_of_its_points():
    states = [{"pointer": "/estado", "words": {"ok": "measuring"}, "otherwise": "fault"}]
    installed = profiles.load("mqtt-json").installed(
        {"value": "/lel", "unit_of_value": "vol_pct", "scale": 2, "sequence": "/n", "states": states}
    )
    assert installed.points == PayloadPoints(
        value="/lel",
        unit_of_value=UnitOfValue.VOL_PCT,
        scale=2.0,
        sequence="/n",
        states=(PayloadState(FieldPoint("/estado"), Meaning(words=(("ok", "measuring"),), otherwise="fault")),),
    )


@pytest.mark.parametrize(
    ("settings", "key", "expected", "got"),
    [
        ({}, "register", "a value", "nothing"),
        ({"regster": 1}, "regster", "'register'", "no such key"),
        ({"register": 1, "colour": 1}, "colour", "one of register,", "no such key"),
        ({"register": 70000}, "register", "a wire address, 0 to 65535", "70000"),
        ({"register": True}, "register", "a wire address", "True"),
        ({"register": 65535, "type": "float32"}, "register", "room for two registers", "65535"),
        ({"register": 1, "type": "flaot32"}, "type", "'float32'", "'flaot32'"),
        ({"register": 1, "word_order": "abcd"}, "word_order", "one of ABCD, CDAB, BADC, DCBA", "'abcd'"),
        ({"register": 1, "scale": "0,1"}, "scale", "a number", "'0,1'"),
        ({"register": 1, "scale": 0}, "scale", "other than 0", "0"),
        ({"register": 1, "scale": float("nan")}, "scale", "a number", "nan"),
        ({"register": 1, "full_scale": -1}, "full_scale", "above 0", "-1"),
        ({"register": 1, "refresh_s": 0}, "refresh_s", "seconds", "0"),
        ({"register": 1, "sentinels": {"falt": [1]}}, "sentinels.falt", "'fault'", "no such key"),
        ({"register": 1, "sentinels": [1]}, "sentinels", "a table", "[1]"),
        ({"register": 1, "sentinels": {"fault": [5], "warm_up": [5]}}, "sentinels.warm_up", "once", "5"),
        ({"register": 1, "sentinels": {"fault": [65535]}}, "sentinels", "int16 can hold", "65535"),
        ({"register": 1, "bits": {"fault": [0]}}, "status_register", "the register", "nothing"),
        ({"register": 1, "status_register": 2}, "bits", "what the bits", "nothing"),
        ({"register": 1, "status_register": 2, "bits": {"fault": [16]}}, "bits.fault", "0 to 15", "16"),
        ({"register": 1, "unit_of_value": "%LEL"}, "unit_of_value", "lel_pct, ppm, vol_pct", "'%LEL'"),
        ({"register": 1, "unit_of_value": {"register": 2}, "states": 3}, "states", "a list", "3"),
    ],
)
def test_a_wrong_setting_is_told_by_key_what_is_right_and_what_stands_there(settings, key, expected, got):
    with pytest.raises(ProfileError) as caught:
        GENERIC.installed(settings)
    assert caught.value.key == key
    assert expected in caught.value.expected
    assert got in caught.value.got
    assert str(caught.value).startswith("generic-modbus: " + key)


@pytest.mark.parametrize(
    ("settings", "key"),
    [({}, "value"), ({"value": "lel"}, "value"), ({"value": "/lel", "register": 1}, "register")],
)
def test_a_wrong_setting_of_a_json_head_is_told_too(settings, key):
    with pytest.raises(ProfileError) as caught:
        profiles.load("mqtt-json").installed(settings)
    assert caught.value.key == key


def test_a_site_profile_is_read_beside_the_depot_file(tmp_path):
    site(tmp_path)
    profile = profiles.load("da-casa.toml", tmp_path)
    assert profile.setting_names() == ("register", "full_scale")
    assert profile.refresh_s == 1.5
    points = profile.installed({"register": 4}).points
    assert isinstance(points, ModbusPoints)
    assert (points.register, points.type, points.word_order) == (4, Type.FLOAT32, WordOrder.CDAB)


@pytest.mark.parametrize(
    ("wrong", "right", "key", "line"),
    [
        ("format = 2", "format = 1", "format", 1),
        ('wire = "modubs"', 'wire = "modbus"', "wire", 3),
        ('requires = ["registr"]', 'requires = ["register"]', "requires", 4),
        ('refresh_s = "1,5"', "refresh_s = 1.5", "timing.refresh_s", 8),
        ("refesh_s = 1.5", "refresh_s = 1.5", "timing.refesh_s", 8),
        ('tipo = "float32"', 'type = "float32"', "points.tipo", 11),
        ("[pontos]", "[points]", "pontos", 10),
    ],
)
def test_a_mistake_in_a_site_profile_is_told_with_its_line(tmp_path, wrong, right, key, line):
    file = site(tmp_path, SITE.replace(right, wrong))
    with pytest.raises(ProfileError) as caught:
        profiles.load(str(file))
    assert (caught.value.key, caught.value.line, caught.value.file) == (key, line, str(file))


def test_a_wrong_value_in_a_complete_site_profile_is_told_with_its_line(tmp_path):
    text = (
        SITE.replace('requires = ["register"]\n', "")
        .replace("[points]", "[points]\nregister = 3")
        .replace("CDAB", "AB")
    )
    with pytest.raises(ProfileError) as caught:
        profiles.load(str(site(tmp_path, text)))
    assert (caught.value.key, caught.value.line) == ("points.word_order", 12)


def test_a_device_that_never_ends_is_refused_as_too_long():
    with pytest.raises(ProfileError, match="at most"):
        profiles.load("/dev/zero", Path("/dev"))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"format = ", "TOML"),
        (b"\xff\xfe", "UTF-8 text"),
        (b"#" * 300_000, "at most"),
        (None, "a readable profile"),
    ],
)
def test_a_file_that_is_no_profile_is_refused(tmp_path, content, expected):
    file = tmp_path / "x.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ProfileError) as caught:
        profiles.load(str(file))
    assert expected in caught.value.expected


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ProfileError) as caught:
        profiles.load("generic-modbuss")
    assert "'generic-modbus'" in caught.value.expected


# --- the XCD, by its manual's table


def xcd(
    value: float = 0.0, fault: int = 0, flags: int = 0, state: int = 1, unit: int = 5, model: int = 0x2501
) -> Reading:
    profile: Profile = profiles.load("honeywell-sensepoint-xcd")
    assert isinstance(profile.points, ModbusPoints)
    (block,) = plan(1, [InstalledHead(DetectorId("D"), profile.points, Basis(1.4, 1.4))])
    assert len(block.asks) == 1
    high, low = struct.unpack(">HH", struct.pack(">f", value))
    words = [model, 0, high, low, fault, flags, state, 0, 0, 0, unit]
    return block.readings(struct.pack(">11H", *words), 0, Stamp(Instant(0), UtcNanos(0)))[0]


def test_the_xcd_reads_its_value_in_the_unit_it_tells():
    assert xcd(12.5).lel_pct == 12.5
    assert xcd(1400.0, unit=4).lel_pct == 10.0
    assert xcd(0.14, unit=3).lel_pct == pytest.approx(10.0, abs=1e-5)
    assert xcd(12.5, unit=1).reason == "unknown-unit"


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"state": 2}, Status.WARM_UP),
        ({"state": 3}, Status.INHIBITED),
        ({"state": 12}, Status.CALIBRATING),
        ({"state": 7}, Status.FAULT),
        ({"fault": 1103}, Status.FAULT),
        ({"fault": 7}, Status.MEASURING),
        ({"flags": 0x20}, Status.FAULT),
        ({"model": 0x2601}, Status.FAULT),
    ],
)
def test_the_xcd_tells_its_states(said, status):
    reading = xcd(3.0, **said)
    assert reading.status is status
    assert (reading.quality is Quality.GOOD) == (status is Status.MEASURING)


def test_the_xcd_alarm_bit_is_gas():
    assert xcd(3.0, flags=1).gas() == 25.0
