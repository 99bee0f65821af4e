"""Puts what the system says of a failure into the person's language. Knows no command."""

import errno
import os

from alerts.messages.catalogue import Catalogue

SYSTEM = {
    errno.ENOENT: "absent",
    errno.ENOTDIR: "no_folder",
    errno.EISDIR: "folder",
    errno.EACCES: "forbidden",
    errno.EPERM: "forbidden",
    errno.EROFS: "read_only",
    errno.ENOSPC: "full",
    errno.ENOTTY: "no_port",
    errno.EADDRINUSE: "taken",
    errno.EADDRNOTAVAIL: "not_here",
    errno.ECONNREFUSED: "refused",
    errno.EHOSTUNREACH: "no_route",
    errno.ENETUNREACH: "no_route",
    errno.ETIMEDOUT: "silent",
}
NAMELESS = ("Name or service not known", "No address associated with hostname", "Temporary failure in name resolution")
"""What a name's look-up says, which has no number of its own."""


def said(words: Catalogue, text: str) -> str:
    """Return the text with the system's own English in it said in the language of these words."""
    for number, word in SYSTEM.items():
        text = text.replace(f"[Errno {number}] ", "").replace(os.strerror(number), words.text(f"system.{word}"))
    for unknown in NAMELESS:
        text = text.replace(unknown, words.text("system.no_name"))
    return words.text("system.silent") if text == "timed out" else text
