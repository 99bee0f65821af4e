"""The real InfluxDB 1 and VictoriaMetrics from Debian's packages, on free ports, with everything in a test's folder."""

import contextlib
import json
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from ports import held_port
from server_process import ServerProcess, binary

CONFIG = """\
reporting-disabled = true
bind-address = "127.0.0.1:{rpc}"
[meta]
  dir = "{folder}/meta"
  logging-enabled = false
[data]
  dir = "{folder}/data"
  wal-dir = "{folder}/wal"
  query-log-enabled = false
[monitor]
  store-enabled = false
[http]
  enabled = true
  bind-address = "127.0.0.1:{port}"
  log-enabled = false
  auth-enabled = {auth}
[logging]
  level = "warn"
"""


class Database(ServerProcess):
    """A server that speaks HTTP; subclasses know its command line and its questions."""

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def get(self, path: str, **params: str) -> str:
        with urllib.request.urlopen(f"{self.url}{path}?{urllib.parse.urlencode(params)}", timeout=10) as answer:  # noqa: S310 - loopback
            return answer.read().decode()

    def post(self, path: str, body: bytes = b"", **params: str) -> str:
        url = f"{self.url}{path}?{urllib.parse.urlencode(params)}"
        with urllib.request.urlopen(urllib.request.Request(url, body), timeout=10) as answer:  # noqa: S310 - loopback
            return answer.read().decode()

    def answers(self) -> bool:
        with contextlib.suppress(OSError, urllib.error.URLError):
            self.get("/ping")
            return True
        return False


class Influx1(Database):
    """InfluxDB 1.6.7."""

    name = "influxd"
    auth = "false"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._rpc = held_port(self)

    def command(self) -> list[str]:
        config = self.folder / "influxdb.conf"
        config.write_text(CONFIG.format(folder=self.folder, port=self.port, rpc=self._rpc, auth=self.auth))
        return [binary("influxd"), "-config", str(config)]

    def create(self, database: str = "vigia") -> None:
        self.ask(f"CREATE DATABASE {database}", db="")

    def ask(self, question: str, db: str = "vigia", **params: str) -> list[dict[str, Any]]:
        """Run InfluxQL; return its series."""
        # an empty body keeps urllib on POST, which statements that change something want
        answer = json.loads(self.post("/query", b"", q=question, epoch="ms", **({"db": db} if db else {}), **params))
        (result,) = answer["results"]
        assert "error" not in result, result
        return list(result.get("series", []))

    def count(self, field: str = "quality", measurement: str = "gas") -> int:
        series = self.ask(f'SELECT count("{field}") FROM "{measurement}"')  # noqa: S608 - a test's own names
        return int(series[0]["values"][0][1]) if series else 0


class Victoria(Database):
    """VictoriaMetrics 1.79.5."""

    name = "victoria-metrics"

    def command(self) -> list[str]:
        return [
            binary("victoria-metrics"),
            f"-storageDataPath={self.folder / 'data'}",
            f"-httpListenAddr=127.0.0.1:{self.port}",
            "-retentionPeriod=100y",
            "-loggerLevel=WARN",
            "-search.latencyOffset=0s",
        ]

    def export(self, match: str) -> list[dict[str, Any]]:
        """Every sample of the series that match, original times."""
        self.get("/internal/force_flush")
        text = self.get("/api/v1/export", **{"match[]": match, "start": "0"})
        return [json.loads(line) for line in text.splitlines()]
