"""Which language the command line speaks. Reads no environment itself."""

from collections.abc import Mapping


def language_of(environ: Mapping[str, str]) -> str:
    """Return ``en`` where VIGIA_LANG, else the locale, begins with it; ``pt-BR`` otherwise."""
    chosen = next((environ[name] for name in ("VIGIA_LANG", "LC_ALL", "LANG") if environ.get(name)), "")
    return "en" if chosen.lower().startswith("en") else "pt-BR"
