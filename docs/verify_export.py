"""Checks a proof of Vigia's journal (`vigia proof`) with nothing but Python: python verify_export.py FILE [VKEY]."""

import base64
import hashlib
import json
import re
import sys


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


# Ed25519, RFC 8032 section 5.1.7
P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def point(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or (x * x - square) % P or (x == 0 and sign):
        raise ValueError("a point of the signature or key is not on the curve")
    return (P - x if x & 1 != sign else x), y


def add(one, two):
    (a, b), (c, d) = one, two
    k = D * a * b * c * d
    return (a * d + b * c) * pow(1 + k, -1, P) % P, (b * d + a * c) * pow(1 - k, -1, P) % P


def times(number, one):
    total = (0, 1)
    while number:
        if number & 1:
            total = add(total, one)
        one, number = add(one, one), number >> 1
    return total


BASE = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def holds(public, message, signature):
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    h = int.from_bytes(hashlib.sha512(r + public + message).digest(), "little")
    return len(signature) == 64 and s < L and times(s, BASE) == add(point(r), times(h % L, point(public)))


def fail(text):
    print(text)
    sys.exit(1)


def need(claim, text):
    if not claim:
        fail(text)


def canonical(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def read(line, name, members):
    need(line.endswith(b"\n"), f"{name} is missing or cut off")
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        fail(f"{name} is no JSON: {error}")
    need(canonical(value) == line[:-1], f"{name} is not in canonical form")
    need(isinstance(value, dict) and set(value) == members, f"{name} has other members than {sorted(members)}")
    return value


def base64_once(text):
    raw = base64.b64decode(text, validate=True)
    need(base64.b64encode(raw).decode() == text, "base64 in an unusual form")
    return raw


def tiles(start, end):
    """Levels of the largest complete subtrees over leaves start to end - 1."""
    while start < end:
        level = min((end - start).bit_length() - 1, (start & -start).bit_length() - 1 if start else 62)
        yield level
        start += 1 << level


def push(peaks, level, digest):
    while peaks and peaks[-1][0] == level:
        level, digest = level + 1, sha256(b"\x01", peaks.pop()[1], digest)
    peaks.append((level, digest))


def hashes(values):
    need(isinstance(values, list) and all(re.fullmatch("[0-9a-f]{64}", str(v)) for v in values), "a hash is malformed")
    return [bytes.fromhex(value) for value in values]


def main(path, expected=None):
    lines = iter(open(path, "rb"))
    head = read(next(lines, b""), "the first line", set("count depot first format left right size vkey".split()))
    need(head["format"] == "vigia-journal-proof-1", "another format")
    first, count, size = head["first"], head["count"], head["size"]
    need(all(type(n) is int for n in (first, count, size)), "sizes that are no numbers")
    need(0 <= first < first + count <= size < 2**62, "sizes that cannot be")
    left, right = hashes(head["left"]), hashes(head["right"])
    before, behind = list(tiles(0, first)), list(tiles(first + count, size))
    need(len(before) == len(left) and len(behind) == len(right), "hashes that do not belong to these sizes")
    peaks = list(zip(before, left))
    for idx in range(first, first + count):
        line = read(next(lines, b""), f"the line of entry {idx}", {"entry", "leaf"})
        entry, leaf = line["entry"], sha256(b"\x00", canonical(line["entry"]))
        need(isinstance(entry, dict) and set(entry) == {"body", "idx", "kind"}, f"entry {idx} has not the right form")
        need(entry["idx"] == idx, f"entry {idx} is missing: entry {entry['idx']} stands in its place")
        need(line["leaf"] == leaf.hex(), f"entry {idx} was changed")
        push(peaks, 0, leaf)
    for level, digest in zip(behind, right):
        push(peaks, level, digest)
    note = str(read(next(lines, b""), "the last line", {"checkpoint"})["checkpoint"])
    need(next(lines, None) is None, "something stands behind the last line")
    root = peaks.pop()[1]
    while peaks:
        root = sha256(b"\x01", peaks.pop()[1], root)
    need(re.fullmatch(r"\S+\+[0-9a-f]{8}\+\S+", head["vkey"]), "the vkey is malformed")
    name, key_id, key = head["vkey"].split("+", 2)
    text = f"{name}\n{size}\n{base64.b64encode(root).decode()}\n"
    signed, _, signature = note.rpartition("\n\n")
    need(signed + "\n" == text, "the entries do not lead to what was signed")
    found = re.fullmatch(r"— (\S+) (\S+)\n", signature)
    key, sign = base64_once(key), base64_once(found[2] if found else "")
    need(found and found[1] == name and key[:1] == b"\x01" and len(key) == 33, "the signature is not of this key")
    need(sha256(name.encode(), b"\n", key)[:4].hex() == key_id == sign[:4].hex(), "the key is not the one it names")
    need(name.startswith("vigia/") and head["depot"] in name, "the key is of another depot")
    need(holds(key[1:], text.encode(), sign[4:]), "the signature does not hold")
    need(expected in (None, head["vkey"]), f"signed by {head['vkey']}, not by the key given")
    print(f"{head['depot']}: entries {first} to {first + count - 1} of {size}, signed by {head['vkey']}: sound")


try:
    main(*sys.argv[1:])
except ValueError as error:
    fail(f"malformed: {error}")
