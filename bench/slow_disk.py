"""Runs the watch on a disk whose every sync takes two seconds: ``python -m bench.slow_disk depot.toml``."""

import os
import sys
from pathlib import Path

from gateway import app
from gateway.configuration.loading import load
from simulator.disks import FaultyDisk

SYNC_S = 2.0


def main(file: str) -> int:
    """Watch until told to stop. The disk is quick until the watch is ready, so that the journal can be made."""
    disk = FaultyDisk("bench-slow")

    def turn_slow() -> None:
        disk.sync_s = SYNC_S

    return app.run(load(Path(file), dict(os.environ)), dict(os.environ), turn_slow, vfs=disk.name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
