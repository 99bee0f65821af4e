"""Every file of the tree begins with a sentence that says what it is."""

import re

from written import ROOT

FOLDERS = ("alerts", "bench", "compliance", "dashboards", "gateway", "sensors", "simulator", "tests")


def test_every_file_says_first_what_it_is():
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    assert len(files) > 500
    beginnings = {path: path.read_text(encoding="utf-8")[:200] for path in files}
    silent = [str(path) for path, text in beginnings.items() if text and not re.match(r'r?"""\S', text)]
    assert silent == []
