"""Reads the secrets that a table names by ``<key>_env`` or ``<key>_file``, or refuses them with their line."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.configuration.problems import Sheet, shown
from gateway.words.system import said
from sensors.toml_lines import Path as TomlPath

SECRET_LIMIT = 4096
"""Longest secret read from a file, in bytes."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """Where a file's secrets come from; `wanted` false: none is read, and none is missed."""

    sheet: Sheet
    folder: Path
    environ: Mapping[str, str]
    wanted: bool

    def of(self, path: TomlPath, key: str, variable: str | None, file: str | None) -> str | None:
        """Return the secret that ``<key>_env`` or ``<key>_file`` names; None without, refused or not wanted."""
        if variable is not None and file is not None:
            self.sheet.refuse((*path, f"{key}_file"), "two_secrets", word=key)
        elif not self.wanted:
            return None
        elif variable is not None:
            value = self.environ.get(variable)
            if value:
                return value
            self.sheet.refuse((*path, f"{key}_env"), "unset_variable", name=shown(variable, quoted=False))
        elif file is not None:
            return self._read(path, key, file)
        return None

    def _read(self, path: TomlPath, key: str, file: str) -> str | None:
        try:
            with (self.folder / file).open("rb") as stream:
                text = stream.read(SECRET_LIMIT).decode("utf-8").strip()
        except OSError as error:
            reason = said(self.sheet.words, error.strerror or str(error))
        except ValueError:
            reason = self.sheet.words.text("reason.not_text")
        else:
            if text:
                return text
            reason = self.sheet.words.text("reason.empty_file")
        self.sheet.refuse((*path, f"{key}_file"), "secret_file", file=shown(file), reason=reason)
        return None
