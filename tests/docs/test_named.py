"""What the pages name is there: commands and their options, make targets, files, modules, rooms and parts."""

import re
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import resolve_name

from field_command import vigia_here
from written import DOCS, ROOT, blocks, code, inline, page, text_of

from gateway.cli import GROUP, OWN

# --- commands -------------------------------------------------------------------------------------


@page
def test_every_command_named_exists(page: Path):
    known = {*OWN, *entry_points(group=GROUP).names}
    for command in re.findall(r"(?:^|\s|bin/)vigia ([a-z]+)", code(page)):
        assert command in known, f"vigia {command} does not exist"


@cache
def help_of(*words: str) -> str:
    return vigia_here(*words, "--help").output


@page
def test_every_option_of_a_command_that_is_shown_is_one(page: Path):
    shown = "\n".join(blocks(page, "sh")).replace("\\\n", " ")
    lines = re.findall(r"(?:^|\s|bin/)vigia ([a-z][^\n#|;]*)", shown + "\n" + "\n".join(inline(page)), re.MULTILINE)
    for line in lines:
        name, *rest = line.split()
        groups = set(re.findall(r"^  (\w+)  ", help_of(name), re.MULTILINE))
        words = (name, *(word for word in rest[:1] if word in groups))
        for option in re.findall(r"(?<!\S)\[?(--[a-z][a-z-]*)", line):
            assert re.search(rf"{option}\b(?!-)", help_of(*words)), f"vigia {' '.join(words)} has no {option}"


@page
def test_every_make_target_named_exists(page: Path):
    targets = set(re.findall(r"^([a-z]+):", text_of(ROOT / "Makefile"), re.MULTILINE))
    for target in re.findall(r"(?:^|[\s`])make ([a-z]+)", code(page)):
        assert target in targets, f"make {target} does not exist"


# --- the code that is named -------------------------------------------------------------------------

HOUSE = "alerts|compliance|dashboards|gateway|sensors|simulator"


@page
def test_every_file_and_folder_named_exists(page: Path):
    for named in re.findall(rf"^(?:{HOUSE}|bench|deploy|docs|tests)/[\w./<>-]*$", code(page), re.MULTILINE):
        assert any(ROOT.glob(re.sub(r"<\w+>|NAME", "*", named))), f"{named} does not exist"


@page
def test_every_module_class_and_function_named_exists(page: Path):
    for named in re.findall(rf"(?:^|-m )((?:{HOUSE})(?:\.\w+)+)(?=\(?\)?$| )", code(page), re.MULTILINE):
        assert resolve_name(named) is not None, f"{named} does not exist"


def test_the_page_of_the_architecture_names_every_room_of_the_gateway_and_what_stands_beside_them():
    rooms = {path.parent.name for path in (ROOT / "gateway").glob("*/__init__.py")}
    table = text_of(DOCS / "architecture.md").partition("| room | what stands there |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)/`", table)) == rooms
    beside = {path.stem for path in (ROOT / "gateway").glob("[a-z]*.py")}
    assert set(re.findall(r"`(\w+)`", table.partition("| beside them |")[2])) == beside


def test_the_page_of_the_architecture_says_what_each_part_of_the_engine_answers():
    parts = {f"gateway.engine.{path.stem}" for path in (ROOT / "gateway/engine").glob("[a-z]*.py")}
    assert parts <= set(re.findall(r"`(gateway\.engine\.\w+)`", text_of(DOCS / "architecture.md")))
