"""The machine under the bench: who runs on which core, what a process has cost so far, what all of it ran on."""

import contextlib
import os
import platform
import resource
import subprocess
from importlib.metadata import version
from pathlib import Path

WATCH_CORE, FIELD_CORE = 0, 1
OPEN_FILES = 8192

PACKAGES = ("pymodbus", "aiomqtt", "paho-mqtt", "msgspec", "apsw")


def pin(process: int, core: int) -> None:
    """Put all threads of a process on one core, or on the only one there is. 0 is ourselves."""
    core %= os.cpu_count() or 1
    threads = [process] if process == 0 else [int(each.name) for each in Path(f"/proc/{process}/task").iterdir()]
    for thread in threads:
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(thread, {core})


def allow_many_sockets() -> None:
    """Raise this process's limit of open files (and that of its children) as far as a thousand devices need."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def cpu_seconds(process: int) -> float:
    """User and system time of a process's living threads, in seconds, to the nanosecond where the kernel tells it."""
    total = 0
    for thread in Path(f"/proc/{process}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e9


def resident_mib(process: int) -> float:
    """Resident memory of a process, in MiB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def children(process: int) -> list[int]:
    """Process ids of the direct children."""
    listed = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(each) for each in listed.split()]


def command(process: int) -> str:
    """The command line of a process; empty for one that has gone."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except FileNotFoundError:
        return ""


def revision() -> str:
    """The commit that is measured, with a plus where the tree differs from it; ``unknown`` outside a checkout."""
    here = Path(__file__).parent
    try:
        told = [
            subprocess.run(["git", *words], cwd=here, capture_output=True, text=True, check=True).stdout.strip()
            for words in (["rev-parse", "--short", "HEAD"], ["status", "--porcelain", "--untracked-files=no"])
        ]
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return told[0] + ("+" if told[1] else "")


def description() -> str:
    """One line: processor, cores, memory, kernel, Python, packages."""
    processor = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.machine(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"{processor}, {os.cpu_count()} cores, {memory:.0f} GiB, Linux {platform.release()}, "
        f"Python {platform.python_version()}, vigia-glp {version('vigia-glp')}, {packages}"
    )
