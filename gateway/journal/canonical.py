"""One value, one sequence of bytes: the JSON that is hashed. Knows no file and no tree.

Object keys in order of code point, no white space, UTF-8 without escapes other than JSON's necessary ones, integers
only. Two values that are equal have equal bytes, whatever order they were built in.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Final, NoReturn

import msgspec

from gateway.engine.events import Json
from sensors.sentences import Sentence

DEEPEST = 16
"""Levels of nesting; a body is a short list of facts."""

LARGEST_INT = 2**63 - 1
"""Whole numbers beyond 64 bits with sign are refused: few readers of JSON keep them."""

LONGEST = 256 * 1024
"""Bytes of one encoded value."""


def encode(value: object) -> bytes:
    """Encode as canonical JSON. A lone surrogate, which UTF-8 cannot carry, becomes U+FFFD.

    Raises:
        TypeError: for a float (NaN included), bytes, or anything else outside `Json`; for a key that is no text.
        ValueError: for a number beyond 64 bits, nesting beyond `DEEPEST`, or more than `LONGEST` bytes.
    """
    data = _quick(value) if _is_plain(value, DEEPEST) else None
    if data is None:
        data = _careful(value)
    if len(data) > LONGEST:
        raise ValueError(Sentence("{length} bytes of JSON; the most is {most}", length=len(data), most=LONGEST))
    return data


def _careful(value: object) -> bytes:
    return mend(json.dumps(_plain(value, DEEPEST), ensure_ascii=False, sort_keys=True, separators=(",", ":"))).encode()


def _quick(value: object) -> bytes | None:
    """Have msgspec encode plain values, in a tenth of the time; None where a text holds a surrogate."""
    try:
        return _QUICK.encode(value)
    except UnicodeEncodeError:
        return None


def _is_plain(value: object, depth: int) -> bool:
    """Tell whether these are values as nearly all are, of which msgspec makes the same bytes."""
    if type(value) is str:
        return True
    if depth == 0:
        return False
    items: Iterable[object]
    if type(value) is dict:
        for key in value:
            if type(key) is not str:
                return False
        items = value.values()
    elif type(value) is list:
        items = value
    else:
        return False
    for item in items:
        kind = type(item)
        if kind in _PLAIN_KINDS or (kind is int and -LARGEST_INT <= item <= LARGEST_INT):
            continue
        if not _is_plain(item, depth - 1):
            return False
    return True


_QUICK: Final = msgspec.json.Encoder(order="sorted")
_PLAIN_KINDS: Final = frozenset({str, bool, type(None)})


def decode(data: bytes) -> Json:
    """Decode canonical JSON.

    Raises:
        ValueError: if the bytes are not exactly what `encode` would write.
    """
    try:
        value: Json = json.loads(data.decode(), parse_float=_no_float, parse_constant=_no_float)
        again = encode(value)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except UnicodeDecodeError as error:
        raise ValueError(Sentence("byte {at} is no UTF-8 text", at=error.start)) from error
    except json.JSONDecodeError as error:
        raise ValueError(Sentence("it is no JSON from character {at} on", at=error.pos)) from error
    if again != data:
        raise ValueError("the bytes are JSON, but not in canonical form")
    return value


def mend(text: str) -> str:
    """Return the text as UTF-8 can carry it: paired surrogates joined, lone ones replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def whole(number: int) -> int:
    """Return the number as a plain int. Raises ValueError beyond 64 bits with sign."""
    if not -LARGEST_INT <= number <= LARGEST_INT:
        raise ValueError(Sentence("{number} does not fit in 64 bits", number=number))
    return int(number)


def _plain(value: object, depth: int) -> object:
    """Check the types and turn every Mapping into a dict, every tuple into a list."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return whole(value)
    if depth == 0:
        raise ValueError(Sentence("nested more than {most} levels deep", most=DEEPEST))
    if isinstance(value, Mapping):
        return {_key(key): _plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth - 1) for item in value]
    raise TypeError(f"{value!r} ({type(value).__name__}) has no canonical form, as whole numbers and texts have")


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the key {key!r} is no text")
    return key


def _no_float(text: str) -> NoReturn:
    raise ValueError(Sentence("{text} is not a whole number", text=text))
