"""What a form of our pages was sent with: its fields, and the files in it. Bounded by the guard; decides nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from email.parser import BytesParser
from email.policy import HTTP
from urllib.parse import parse_qsl

from starlette.requests import Request

MOST_FIELDS = 400
MOST_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Posted:
    """Fields by name, text cut to a bound; and the bytes of each file that was chosen."""

    fields: Mapping[str, str]
    files: Mapping[str, bytes]

    def text(self, name: str) -> str:
        """Return a field without the space around it; empty where it is not there."""
        return self.fields.get(name, "").strip()

    @property
    def by(self) -> str:
        """Who signs."""
        return " ".join(self.text("by").split())[:80]

    @property
    def request(self) -> str:
        """The hidden id of the form: the same however often it is sent."""
        return self.text("rid")[:40]


async def posted(request: Request) -> Posted:
    """Read a form, written in either of the two ways of browsers; what is neither is empty."""
    body = await request.body()
    kind = request.headers.get("content-type", "")
    if kind.startswith("multipart/form-data"):
        return _parts(kind, body)
    try:
        pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        pairs = []
    return Posted({name: text[:MOST_CHARS] for name, text in pairs}, {})


def _parts(kind: str, body: bytes) -> Posted:
    message = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + kind.encode("latin-1") + b"\r\n\r\n" + body)
    fields: dict[str, str] = {}
    files: dict[str, bytes] = {}
    for part in list(message.iter_parts())[:MOST_FIELDS] if message.is_multipart() else ():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if not isinstance(name, str) or not isinstance(content, bytes):
            continue
        if part.get_filename() is None:
            fields[name] = content.decode("utf-8", "replace")[:MOST_CHARS]
        elif content:
            files[name] = content
    return Posted(fields, files)
