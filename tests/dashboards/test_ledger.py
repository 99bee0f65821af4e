"""The ledger as a spreadsheet takes it: the right mark, the right separator, local times, no formula out of a name."""

import csv
import io
import os
import subprocess
import sys
from zoneinfo import ZoneInfo

import pytest

from dashboards.ledger import MARK, months_csv, stretches_csv
from dashboards.past import LedgerView, MonthView, StretchView
from dashboards.web.page import words
from dashboards.wording import Locale

FORTALEZA = "America/Fortaleza"
PT = Locale("pt-BR", words("pt-BR"), ZoneInfo(FORTALEZA))
EN = Locale("en", words("en"), ZoneInfo(FORTALEZA))


def view(*stretches, months=()):
    return LedgerView(FORTALEZA, "2026-06-01T03:00:00.000Z", "2026-07-01T03:00:00.000Z", stretches, months)


def stretch(start, end="2026-07-01T03:00:00.000Z", state="blind", by=None, detector="GD-1"):
    return StretchView(detector, state, start, end, 12.5, "timeout", by)


def rows(text):
    assert text.startswith(MARK) and text.endswith("\r\n")
    return list(csv.reader(io.StringIO(text.removeprefix(MARK)), delimiter=";"))


@pytest.mark.trial("B31")
@pytest.mark.parametrize(
    ("utc", "local"),
    [
        ("23:30:00.000", "20:30:00"),
        ("00:30:00.000", "21:30:00"),
        ("02:59:59.000", "23:59:59"),
        ("02:59:59.250", "23:59:59.250"),
    ],
)
def test_b31_a_late_evening_is_written_on_its_local_day_and_each_row_states_its_zone(utc, local):
    day = "30" if utc.startswith("23") else "01"
    month = "06" if day == "30" else "07"
    _, row = rows(stretches_csv(view(stretch(f"2026-{month}-{day}T{utc}Z")), PT))
    assert row[2] == f"2026-06-30 {local}" and row[-1] == FORTALEZA


def test_columns_and_states_are_words_and_numbers_carry_the_languages_comma():
    head, row = rows(stretches_csv(view(stretch("2026-06-30T12:00:00.000Z", by="Ana")), PT))
    assert head == ["detector", "estado", "de", "até", "segundos", "causa", "pessoa", "fuso horário"]
    assert row == [
        "GD-1", "sem monitoramento", "2026-06-30 09:00:00", "2026-07-01 00:00:00", "12,500", "timeout", "Ana", FORTALEZA
    ]  # fmt: skip
    assert rows(stretches_csv(view(stretch("2026-06-30T12:00:00.000Z")), EN))[1][4] == "12.500"


@pytest.mark.parametrize("name", ["=1+1", "+55 85", "-x", "@a", "\tx", "\r=1", "\n=1", "＝1"])
def test_a_name_never_becomes_a_formula(name):
    assert rows(stretches_csv(view(stretch("2026-06-30T12:00:00.000Z", by=name)), PT))[1][6] == f"'{name}"


@pytest.mark.parametrize("name", ['Ana "a" Souza', "a;b", "a\nb"])
def test_a_name_never_breaks_a_row(name):
    assert rows(stretches_csv(view(stretch("2026-06-30T12:00:00.000Z", by=name)), PT))[1][6] == name


def test_months_have_the_percent_of_every_state():
    month = MonthView("GD-1", "2026-06", 2_592_000.0, 99.5, 0.25, 0.0, 0.0, 0.125, 0.125)
    head, row = rows(months_csv(view(months=(month,)), PT))
    assert head[3:9] == ["monitorado", "sem monitoramento", "inibido", "em teste", "fora de serviço", "desligado"]
    assert row[1:9] == ["2026-06", "2592000,000", "99,500", "0,250", "0,000", "0,000", "0,125", "0,125"]


@pytest.mark.trial("B30")
def test_b30_without_the_systems_zone_data_the_product_uses_its_own():
    script = (
        "from datetime import datetime\n"
        "import zoneinfo\n"
        "assert zoneinfo.TZPATH == (), zoneinfo.TZPATH\n"
        "from gateway.ledger.ledger import month_start_ms\n"
        "for zone in ('America/Sao_Paulo', 'America/Fortaleza'):\n"
        "    print(month_start_ms(1768489200000, zoneinfo.ZoneInfo(zone)),\n"
        "        datetime.fromtimestamp(1768489200, zoneinfo.ZoneInfo(zone)).strftime('%H:%M'))\n"
    )
    environ = os.environ | {"PYTHONTZPATH": ""}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environ)
    assert (done.stderr, done.stdout) == ("", "1767236400000 12:00\n" * 2)
