"""RESULTS.md: the latest figure of every case, and a row for each earlier run. Rows of cases not run now are kept."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from bench.figures import Figure

COLUMNS = "| case | figure | value | unit | target | measured |"
HISTORY = "| when | case | figures |"


def write(file: Path, figures: Sequence[Figure], machine: str, when: datetime, how: str) -> None:
    """Write the file anew, with what stands in it already."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    stamp = f"{when:%Y-%m-%d %H:%MZ}"
    fresh = {figure.case for figure in figures}
    rows = [row for row in _rows(text, COLUMNS) if _cells(row)[0] not in fresh]
    rows += [_row(figure, stamp) for figure in figures]
    past = _rows(text, HISTORY)
    for case in dict.fromkeys(figure.case for figure in figures):
        said = "; ".join(f"{each.name} {_number(each.value)} {each.unit}" for each in figures if each.case == case)
        past.insert(0, f"| {stamp} | {case} ({how}) | {said} |")
    file.write_text(_PAGE.format(machine=machine, rows=_table(COLUMNS, rows), past=_table(HISTORY, past)), "utf-8")


def _row(figure: Figure, stamp: str) -> str:
    value = _number(figure.value)
    return f"| {figure.case} | {figure.name} | {value} | {figure.unit} | {figure.verdict} | {stamp} |"


def _number(value: float) -> str:
    if value in (float("inf"), float("-inf")):
        return "never"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


def _rows(text: str, header: str) -> list[str]:
    """The body rows of the table under this header."""
    lines = text.splitlines()
    if header not in lines:
        return []
    body = lines[lines.index(header) + 2 :]
    end = next((number for number, line in enumerate(body) if not line.startswith("|")), len(body))
    return body[:end]


def _table(header: str, rows: Sequence[str]) -> str:
    ruler = "|" + " --- |" * len(_cells(header))
    return "\n".join([header, ruler, *rows])


_PAGE = """\
# What the watch costs and how fast it is

Written by `make bench`. Machine of the last run: {machine}.

The watch process alone is on one core and alone is counted; simulated devices, Mosquitto, the subscriber, the web
child and the office are on the other. Ten heads leak in the job cases, again and again. "Read" is the moment at which
the simulated device answered the first poll that showed the gas, "subscriber" the moment at which an independent MQTT
client had the alarm: both by the same monotonic clock, neither taken from the watch. "Siren read back" is the question
by which the watch proves a siren's coil, as that siren hears it, one alarm at a time: the siren is ordered before the
journal's commit, the MQTT notice leaves after it. Figures of `job` with a target are those of the window with alarms.
Until 2026-11-30 19:15Z the window without alarms held the office's first judgement, some 0.3 s of CPU at 1,000 heads.
Nobody looks at the page in `job`: since 2026-12-01 the watch makes no views of heads then (docs/decisions/0013).
What the milliseconds and the CPU of an alarm are spent on stands in docs/decisions/0014. The bare pymodbus loop is the
median of five fresh processes since 2026-12-01 05:17Z: asyncio's receive buffer of 256 KiB costs it up to twice the CPU
in one process and little in the next. Before, it was a single one.

`largest` grows a depot of one head a unit, 32 units a line, at 1 Hz. What stops it is the cost of a poll (its share in
the kernel is that of the sockets); from about 8,000 heads on the picture does not always fit into one answer of the
control socket (4 MiB), and beyond 11,000 the detectors do not fit into the 1 MiB of a depot.toml. Peers hold 2,000
(Node-RED) and 500 (ThingsBoard gateway) on a core.

On virtual cores shared with others, ratios within one run are worth more than rates, and differences below a third
mean little.

## Latest

{rows}

## Earlier runs

{past}
"""
