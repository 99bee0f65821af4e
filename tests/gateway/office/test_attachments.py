"""Attachments are named by their bytes, of a few kinds only, and served only while they are what they were."""

from pathlib import Path

import pytest

from gateway.office.attachments import MOST_BYTES, AttachmentError, keep, load

PDF = b"%PDF-1.7 laudo"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def test_the_same_file_is_kept_once_and_comes_back_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "attachments"
    name, kind = keep(folder, PDF)
    assert keep(folder, PDF) == (name, "application/pdf")
    assert [file.name for file in folder.iterdir()] == [name]
    assert load(folder, name) == (PDF, kind)
    assert load(folder, keep(folder, PNG)[0]) == (PNG, "image/png")


@pytest.mark.parametrize("content", [b"<html><script>", b"", b"MZ", b"PK\x03\x04", b" %PDF-1.7"])
def test_what_is_no_document_or_photo_is_refused_whatever_it_calls_itself(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(AttachmentError) as refused:
        keep(tmp_path, content)
    assert refused.value.problem == "wrong-file"


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AttachmentError):
        keep(tmp_path, PDF + bytes(MOST_BYTES))
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_changed_is_not_served(tmp_path: Path) -> None:
    name, _ = keep(tmp_path, PDF)
    (tmp_path / name).write_bytes(PDF + b"!")
    assert load(tmp_path, name) is None


@pytest.mark.parametrize("name", ["../journal.db", "..", "", "a" * 63, "A" * 64, "g" * 64])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "journal.db").write_bytes(PDF)
    assert load(tmp_path / "attachments", name) is None
