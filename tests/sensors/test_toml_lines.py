"""The scanner of lines: where each key of a TOML file stands, broken ones too."""

import tomllib
from collections.abc import Iterator

from hypothesis import example, given
from hypothesis import strategies as st

from sensors.toml_lines import Path, Twice, scan

TEXT = """\
# a comment with [brackets] and = signs
[depot]
id = "x"      # id = "not this one"
"quoted key" = 'a ] b'
a.b.c = 1
text = \"\"\"
[not.a.table]
id = 2
\"\"\"
many = [
  1,
  { k = [3,
    4], "q" = "}" },
]

[[bus]]
id = "a"
[bus.inner]
x = 1
[[bus]]
id = "b"
[after]
y = 2
"""


def test_every_key_table_and_item_has_its_line() -> None:
    assert scan(TEXT).of == {
        ("depot",): 2,
        ("depot", "id"): 3,
        ("depot", "quoted key"): 4,
        ("depot", "a"): 5,
        ("depot", "a", "b"): 5,
        ("depot", "a", "b", "c"): 5,
        ("depot", "text"): 6,
        ("depot", "many"): 10,
        ("depot", "many", 0): 11,
        ("depot", "many", 1): 12,
        ("depot", "many", 1, "k"): 12,
        ("depot", "many", 1, "k", 0): 12,
        ("depot", "many", 1, "k", 1): 13,
        ("depot", "many", 1, "q"): 13,
        ("bus",): 16,
        ("bus", 0): 16,
        ("bus", 0, "id"): 17,
        ("bus", 0, "inner"): 18,
        ("bus", 0, "inner", "x"): 19,
        ("bus", 1): 20,
        ("bus", 1, "id"): 21,
        ("after",): 22,
        ("after", "y"): 23,
    }
    assert scan(TEXT).twice == []


def test_what_stands_twice_has_both_lines() -> None:
    text = "[a]\nx = 1\nx = 2\n[[b]]\n[a]\n[b]\n[c]\n[[c]]\n"

    assert scan(text).twice == [
        Twice(("a", "x"), 2, 3),
        Twice(("a",), 1, 5),
        Twice(("b", 0), 4, 6),
        Twice(("c",), 7, 8),
    ]


def test_the_nearest_thing_around_answers_for_what_is_not_there() -> None:
    lines = scan(TEXT)

    assert lines.nearest(("bus", 1, "port")) == 20
    assert lines.nearest(("depot", "many", 1, "k", 9)) == 12
    assert lines.nearest(("nothing",)) == 1


def test_a_broken_line_costs_only_itself() -> None:
    assert scan('a = [1, 2\n[b]\nc = "open\nd = 1\n= 3\n[\ne = 2').of[("b", "d")] == 4


def test_depth_is_bounded() -> None:
    assert scan("x = " + "[" * 100_000).of[("x",)] == 1


def paths(value: object, at: Path = ()) -> Iterator[Path]:
    """Every path of a parsed document, as the scanner counts them."""
    if at:
        yield at
    match value:
        case dict():
            for key, inner in value.items():
                yield from paths(inner, (*at, key))
        case list():
            for index, inner in enumerate(value):
                yield from paths(inner, (*at, index))
        case _:
            pass


PIECES = st.sampled_from(
    [
        *("[t]\n", "[[l]]\n", "[l.u]\n", "a = 1\n", "b.c = 2\n", "d = [1, [2, 3]]\n", "\n", "# x = 1\n"),
        *("e = { f = { g = 1 } }\n", 'h = "# [z]"\n', "i = '''\n[j]\n'''\n", '"k l" = 1979-05-27\n'),
        "m = [\n  { n = 1 },\n  { n = 2 }, # c\n]\n",
    ]
)


@given(st.lists(PIECES, max_size=12).map("".join))
@example("[l.u]\n[[l]]\n")
def test_every_path_of_a_good_document_is_found(text: str) -> None:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    found = scan(text).of

    assert set(paths(document)) <= set(found)
    assert all(1 <= line <= text.count("\n") + 1 for line in found.values())


@given(st.text(alphabet="[]{}=\"'.,#\n \\ab1"))
def test_no_text_whatever_stops_the_scanner(text: str) -> None:
    assert all(1 <= line <= text.count("\n") + 1 for line in scan(text).of.values())
