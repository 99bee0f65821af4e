"""B63: one list saved by many programs gives the same rows, or a refusal that says what to save as."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.registers.sheets import SheetError, plain, read

LIST = 'Nome;Validade ;Observação\nExtintor nº 1;31/07/2026;São José\nExtintor nº 2;07/2026;"junto à\nporta"\n'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-32"])
@pytest.mark.parametrize("separator", [";", ",", "\t"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_b63_the_same_list_in_every_dress_gives_the_same_rows(encoding: str, separator: str, ending: str) -> None:
    rows = read(LIST.replace(";", separator).replace("\n", ending).encode(encoding))
    assert [row.cells["nome"] for row in rows] == ["Extintor nº 1", "Extintor nº 2"]
    assert rows[0].cells["observacao"] == "São José"
    assert rows[1].cells["observacao"] == "junto à\nporta"
    assert [row.line for row in rows] == [2, 3]


def test_b63_a_declared_separator_and_empty_columns_are_taken() -> None:
    rows = read(b"sep=;\nVALIDADE ;Nome;;\n\n07/2026;a;;\n")
    assert dict(rows[0].cells) == {"validade": "07/2026", "nome": "a"}
    assert rows[0].line == 4


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "no-heading"),
        (b"\n;;\n", "no-heading"),
        (b"a;b\n", "no-rows"),
        (b"a;b\n" + b"1;2\n" * 2000 + b"1;\x00\n", "not-text"),
        (b"PK\x03\x04\x00\x00", "workbook"),
        (b"a;a\n1;2\n", "column-twice"),
        (b"a;b\n1;2;3\n", "cell-without-column"),
        (b'a;b\n"1;2\n', "not-csv"),
        (b"a;b\n1;\x81\n", "encoding"),
        ("a;b\n1;caf\ufffd\n".encode(), "encoding"),
        (b"\xff\xfea\x00;", "encoding"),
    ],
)
def test_b63_what_cannot_be_read_whole_is_refused_with_its_line(content: bytes, problem: str) -> None:
    with pytest.raises(SheetError) as refused:
        read(content)
    assert refused.value.problem == problem


@given(st.binary(max_size=400))
def test_no_bytes_do_more_than_be_refused(content: bytes) -> None:
    try:
        rows = read(content)
    except SheetError:
        return
    assert all("\ufffd" not in cell for row in rows for cell in row.cells.values())


def test_a_columns_name_is_known_whatever_its_dress() -> None:
    assert {plain(name) for name in ("Próxima inspeção", " PROXIMA  INSPECAO ", "próxima_inspeção")} == {
        "proxima_inspecao"
    }


@pytest.mark.parametrize(
    ("content", "problem", "got"),
    [
        (b"PK\x03\x04\x14\x00\x81", "workbook", "Excel .xlsx, LibreOffice .ods"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "workbook", "Excel .xls"),
        (b'id;area\n"E;patio\n', "not-csv", "open quotes"),
        (b'id;area\n"E"x;patio\n', "not-csv", "stray quotes"),
        (b"id;area\nE;\x81\n", "encoding", "byte 0x81"),
    ],
)
def test_a_file_that_is_no_csv_is_called_what_it_is(content: bytes, problem: str, got: str) -> None:
    with pytest.raises(SheetError) as refused:
        read(content)
    assert (refused.value.problem, refused.value.got) == (problem, got)
