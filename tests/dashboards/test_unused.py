"""Nothing is kept that no page uses: texts of the catalogues, classes of the style sheets, names of the scripts."""

import re
from pathlib import Path

import pytest

from alerts.messages.catalogue import Catalogue

ROOT = Path(__file__).parent.parent.parent
DASHBOARDS = ROOT / "dashboards"
STATIC = DASHBOARDS / "web" / "static"
PAGES = DASHBOARDS / "web" / "templates"
SCRIPTS = sorted(STATIC.glob("*.js"))
SPEAKING = (".py", ".js", ".html")


def sources(*folders: str) -> str:
    files = (file for folder in folders for file in sorted((ROOT / folder).rglob("*")) if file.suffix in SPEAKING)
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


@pytest.mark.parametrize("package", ["dashboards", "dashboards.conformity"])
def test_every_text_is_named_in_full_or_its_key_is_put_together_from_its_beginning(package: str) -> None:
    text = sources("dashboards", "gateway")
    beginnings = tuple(re.findall(r"""["'`]([a-z][a-z_-]*[._](?:[a-z_-]+[._])?)(?:\{|\$\{|["'`] ~)""", text))
    keys = Catalogue.load(package, "pt-BR").texts
    named = {key for key in keys if re.sub(r"_(one|many)$", "", key) in text or key.startswith(beginnings)}
    assert set(keys) - named == set()


def test_every_class_of_the_style_sheets_is_on_a_page() -> None:
    sheets = "\n".join(file.read_text(encoding="utf-8") for file in sorted(STATIC.glob("*.css")))
    selectors = re.findall(r"([^{}]+)\{", re.sub(r"/\*.*?\*/", "", sheets, flags=re.DOTALL))
    classes = set(re.findall(r"\.([a-zA-Z][\w-]*)", "\n".join(selectors)))
    pages = sources("dashboards")
    assert classes
    assert {name for name in classes if not re.search(rf"(?<![\w-]){name}(?![\w-])", pages)} == set()


def test_every_class_on_a_page_is_drawn_by_a_style_sheet_or_found_by_a_script() -> None:
    pages = "\n".join(file.read_text(encoding="utf-8") for file in sorted(PAGES.glob("*.html")))
    classes = {name for named in re.findall(r'class="([^"{]*)', pages) for name in named.split()}
    using = "\n".join(file.read_text(encoding="utf-8") for file in (*STATIC.glob("*.css"), *SCRIPTS))
    assert {name for name in classes if not re.search(rf"""[."']{name}(?![\w-])""", using)} == set()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_every_name_that_a_script_takes_in_is_used_there_and_given_out_by_the_other(script: Path) -> None:
    text = re.sub(r"//.*", "", script.read_text(encoding="utf-8"))
    for names, other in re.findall(r'import \{([^}]*)\} from "\./([\w.]+)"', text):
        given = (STATIC / other).read_text(encoding="utf-8")
        for name in filter(None, map(str.strip, names.split(","))):
            assert len(re.findall(rf"(?<![\w.]){name}\b", text)) > 1, f"{name} is not used"
            assert re.search(rf"^export (async )?(function|const|let|class) {name}\b", given, re.MULTILINE), name


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_every_function_of_a_script_is_called_there_or_by_another(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    others = "\n".join(other.read_text(encoding="utf-8") for other in SCRIPTS if other != script)
    for given, name in re.findall(r"^(export )?(?:async )?function (\w+)", text, re.MULTILINE):
        assert len(re.findall(rf"\b{name}\b", text)) > 1 or (given and re.search(rf"\b{name}\b", others)), name
