"""What is filed goes in parts that the journal and the watch can hold, in its order, with nothing lost."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.control import MAX_REQUEST_BYTES
from gateway.engine.events import Json
from gateway.journal import canonical
from gateway.office import parts

LINES = st.lists(
    st.integers(0, 60_000).map(lambda length: {"note": "ç" * (length // 2), "n": length}), min_size=0, max_size=40
)


@given(LINES)
def test_every_line_is_in_one_part_in_its_order_and_every_part_can_be_journalled(lines: list[dict[str, Json]]) -> None:
    cut = list(parts.of_entries(lines))
    assert [line for part in cut for line in part] == lines
    for part in cut:
        assert len(part) == 1 or len(canonical.encode(part)) <= parts.MOST_ENTRY_BYTES + 2
        assert canonical.encode({"at_ms": 1, "changes": list(part)})


@given(LINES)
def test_what_is_beyond_one_filing_is_told_with_a_number_that_fits(lines: list[dict[str, Json]]) -> None:
    size = sum(len(canonical.encode(line)) + 1 for line in lines)
    fits = parts.beyond_one_filing(lines)
    assert (fits == 0) == (size <= parts.MOST_FILING_BYTES)
    assert parts.MOST_FILING_BYTES < MAX_REQUEST_BYTES
