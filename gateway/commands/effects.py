"""The table of cause and effect as lines for a person, and as a page: ``python -m gateway.commands.effects``."""

from collections.abc import Iterable, Iterator, Sequence

from alerts.effects import USUAL, Occasion, Row, usual
from alerts.messages.catalogue import Catalogue
from alerts.voting import SAME_GAS, TWO, Gate
from gateway.commands.talk import Talk
from gateway.depot import Output
from sensors.stamps import SECOND

INTRODUCTION = """# Cause and effect

What each kind of output does, where depot.toml says nothing else; written by `python -m gateway.commands.effects`.
`vigia check` prints the same table for the outputs of a depot. What changes it stands in
[configuration.md](configuration.md#outputs).

An output is on while any standing alarm that concerns it asks for it. The cells are read in the order in which things
happened to the alarm, and the last *on* or *off* counts; `-` changes nothing. An alarm that is gone asks for nothing.
"""

NOTES = """
- **silenced** lasts two minutes at most (`silence_s`), and only until the level rises. The rest stays as it is.
- **blind**: a detector is not watching. No output follows it unless `effects = { blind = "on" }` says so.
- A **siren** is horn and beacon in one: it can only be silenced whole, so it follows the horn.
- A **valve** (on is closed) is moved from level A2 on, never by a drill, and only when two heads read gas, or one head
  in two samples (`votes`), in a row or at most 60 s apart without clear air between: gas may swing about the level. It
  never moves on a single sample of a single head, not at A3 or over-range either: that may be one garbled frame. A head
  at A3 needs no more than its second sample, whatever `votes` asks for. A head that fails leaves the vote, and no more
  votes are asked for than heads are left; the last one left, or the only one of an area, closes the valve with its
  second sample. It then stays closed until each alarm that closed it was reset. Only `votes` with `heads = 1` or
  `samples = 1` lets one sample move it. Siren and alarm wait for none of this.
- The **heartbeat** relay is held by the alarm loop, which writes to it each second, and follows no alarm.
- An output that a reload finds **no longer in the file**, or with another address or board, is first brought to rest at
  its old one: whatever tells people (siren, horn, beacon) is switched off, and a heartbeat drops. What acts on the gas
  (valve, relay) stays as it is while an alarm wants it on: an edited file opens no valve and puts no power back;
  release it on site. It is recorded (`output-left`), and a SYSTEM alarm until a person acknowledges it where the output
  stays on, did not confirm that it went off within 1 s, or was silenced in the midst of an alarm.
"""


def effect_lines(talk: Talk, outputs: Sequence[Output]) -> Iterator[str]:
    """Yield the table of these outputs: a heading, a line for each output, and under it what else moves or stays it."""
    if not outputs:
        return
    cells = [["", *(talk.text(f"effects.{occasion.value}") for occasion in Occasion)]]
    cells += [[output.id, *_cells(talk.words, output.row)] for output in outputs]
    widths = [max(len(line[at]) for line in cells) for at in range(len(cells[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    yield lines[0]
    for output, line in zip(outputs, lines[1:], strict=True):
        yield line
        yield "  " + _sentence(talk, output)


def effect_rows(outputs: Iterable[Output]) -> list[dict[str, object]]:
    """Return the same for programs."""
    return [
        {
            "output": output.id,
            "kind": output.row.kind.value,
            "effects": {occasion.value: does.value for occasion, does in output.row.does.items()},
            "level": output.row.level.name,
            "areas": sorted(output.row.areas),
            "votes": None if output.row.gate is None else [output.row.gate.heads, output.row.gate.samples],
            "energised": output.energised,
            "at_stop": output.at_stop,
        }
        for output in outputs
    ]


def page() -> str:
    """Return the whole page."""
    words = Catalogue.load("gateway.words", "en")
    names = [words.text(f"effects.{occasion.value}") for occasion in Occasion]
    lines = ["| output | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    lines += [f"| `{kind.value}` | " + " | ".join(_cells(words, usual(kind.value))) + " |" for kind in USUAL]
    return "\n".join([INTRODUCTION, *lines, NOTES])


def _cells(words: Catalogue, row: Row) -> list[str]:
    if row.held:
        return [words.text("effects.held")] * len(Occasion)
    return [words.text(f"effects.{row.does[occasion].value}") for occasion in Occasion]


def _sentence(talk: Talk, output: Output) -> str:
    row = output.row
    areas = ", ".join(sorted(row.areas)) or talk.text("effects.everywhere")
    parts = [talk.text(f"effects.kind_{row.kind.value}")]
    if not row.held:
        parts.append(talk.text("effects.scope", level=row.level.name, areas=areas))
    if row.gate is not None:
        parts.append(_votes(talk, row.gate))
    parts.append(talk.text(f"effects.power_{'held' if row.held else output.energised}"))
    parts.append(talk.text(f"effects.stop_{output.at_stop}"))
    return "; ".join(parts) + "."


def _votes(talk: Talk, gate: Gate) -> str:
    if min(gate.heads, gate.samples) == 1:
        return talk.text("effects.votes_one")
    wanted = "votes" if gate.samples <= TWO else "votes_alone"
    return talk.text(f"effects.{wanted}", heads=gate.heads, samples=gate.samples, apart=SAME_GAS // SECOND)


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201 - the page is what this prints
