"""The signing key: made once, readable by its owner alone, never replaced in silence."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_public_key

from gateway.sealing.keys import PRIVATE, PUBLIC, KeyFileError, put, signing_key


def test_the_key_is_made_once_and_its_signatures_hold_for_the_same_content_only(tmp_path: Path) -> None:
    first, again = signing_key(tmp_path), signing_key(tmp_path)
    signature = first.sign(b"record")
    assert first.fingerprint == again.fingerprint
    assert again.made(b"record", signature) and not again.made(b"recorD", signature)
    assert stat.S_IMODE((tmp_path / PRIVATE).stat().st_mode) == 0o600
    assert load_pem_public_key((tmp_path / PUBLIC).read_bytes())
    assert sorted(path.name for path in tmp_path.iterdir()) == [PRIVATE, PUBLIC]


def test_many_commands_at_once_make_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        prints = {key.fingerprint for key in pool.map(lambda _: signing_key(tmp_path), range(16))}
    assert len(prints) == 1


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_key_that_others_may_read_is_not_used(tmp_path: Path, mode: int) -> None:
    signing_key(tmp_path)
    (tmp_path / PRIVATE).chmod(mode)
    with pytest.raises(KeyFileError, match="others may read it"):
        signing_key(tmp_path)


def test_a_file_that_holds_no_ed25519_key_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    foreign = generate_private_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    for content in (b"", b"not a key", foreign):
        put(tmp_path / PRIVATE, content, mode=0o600)
        with pytest.raises(KeyFileError):
            signing_key(tmp_path)
        assert (tmp_path / PRIVATE).read_bytes() == content


def test_a_lost_public_half_is_written_again(tmp_path: Path) -> None:
    key = signing_key(tmp_path)
    before = key.public_file.read_bytes()
    key.public_file.write_bytes(b"tampered")
    assert signing_key(tmp_path).public_file.read_bytes() == before


def test_a_folder_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="No such file"):
        signing_key(tmp_path / "gone")


def test_a_file_that_stands_already_is_kept_when_it_must_be_new(tmp_path: Path) -> None:
    put(tmp_path / "record", b"first", mode=0o600, anew=True)
    with pytest.raises(FileExistsError):
        put(tmp_path / "record", b"second", mode=0o600, anew=True)
    assert (tmp_path / "record").read_bytes() == b"first"
    assert [path.name for path in tmp_path.iterdir()] == ["record"]
