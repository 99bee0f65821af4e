"""Names of persons, kept beside the tree so that a name can be erased and every proof still holds."""

import json
import secrets
from hashlib import sha256
from typing import Any

import apsw

from gateway.journal import canonical

SALT_BYTES = 32
"""Without its salt, a reference cannot be tried against a list of names."""


def reference(salt: bytes, name: str) -> str:
    """SHA-256(salt || name in UTF-8) in hex: what a leaf holds in place of the name."""
    return sha256(salt + name.encode()).hexdigest()


def erased_name(ref: str) -> str:
    """What stands for a person whose name was erased: still one person, told apart from others."""
    return f"#{ref[:8]}"


def ref_of(db: apsw.Connection, name: str) -> str:
    """Return the reference of a name, making one with a fresh salt at its first use. Needs an open transaction."""
    name = canonical.mend(name)
    for (known,) in db.execute("SELECT ref FROM person WHERE name = ?", (name,)):
        return str(known)
    salt = secrets.token_bytes(SALT_BYTES)
    ref = reference(salt, name)
    db.execute("INSERT INTO person (ref, salt, name) VALUES (?, ?, ?)", (ref, salt, name))
    return ref


def name_of(db: apsw.Connection, ref: str) -> str:
    """Return the name behind a reference, or `erased_name` when it is no longer kept."""
    for (name,) in db.execute("SELECT name FROM person WHERE ref = ?", (ref,)):
        return str(name)
    return erased_name(ref)


def erase(db: apsw.Connection, ref: str) -> bool:
    """Forget the name and the salt of a reference, also where an alarm's restart row repeats the name.

    Needs an open transaction on a connection with secure_delete. False when nothing is kept under it.
    """
    rows = db.execute("DELETE FROM person WHERE ref = ? RETURNING name", (ref,)).fetchall()
    if not rows:
        return False
    ((name,),) = rows
    states: list[Any] = db.execute("SELECT subject, kind, body FROM alarm_state").fetchall()
    for subject, kind, body in states:
        kept = json.loads(body)
        if isinstance(kept, dict) and name in kept.values():
            clean = {key: erased_name(ref) if value == name else value for key, value in kept.items()}
            db.execute(
                "UPDATE alarm_state SET body = ? WHERE subject = ? AND kind = ?",
                (canonical.encode(clean), subject, kind),
            )
    return True
