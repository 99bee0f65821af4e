"""``vigia service``: the systemd unit that keeps the watch up. Writes text; touches no service manager."""

import shlex
import shutil
import stat
import sys
from pathlib import Path

import click

from gateway.commands.reasons import why
from gateway.commands.talk import EXIT_FAILED, Talk, file_argument, load_or_exit
from gateway.depot import Depot
from gateway.machine.wholefile import whole

UNIT = """\
# {install}
#   sudo cp vigia.service /etc/systemd/system/ && sudo systemctl daemon-reload && sudo systemctl enable --now vigia

[Unit]
Description=Vigia GLP: {name}
Documentation=man:systemd.service(5)
Wants=network-online.target
After=network-online.target time-sync.target
StartLimitIntervalSec=0

[Service]
Type=notify
NotifyAccess=main
ExecStart={vigia} run {file}
ExecReload=kill -HUP $MAINPID
WatchdogSec=10
Restart=always
RestartSec=1
# {refused}
RestartPreventExitStatus=78
TimeoutStartSec=30
TimeoutStopSec=5
KillMode=mixed
OOMScoreAdjust=-500
LimitNOFILE=65536

# {kept}
#   sudo env VIGIA_DEPOT__DATA=/var/lib/vigia {vigia} status {file}
StateDirectory=vigia
StateDirectoryMode=0750
Environment=VIGIA_DEPOT__DATA=%S/vigia VIGIA_LANG={language}
# {secrets}
EnvironmentFile=-/etc/vigia/secrets

DynamicUser=yes
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
{devices}
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectHostname=yes
NoNewPrivileges=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
CapabilityBoundingSet=
SystemCallArchitectures=native
SystemCallFilter=@system-service
UMask=0027

[Install]
WantedBy=multi-user.target
"""

NO_PORTS = "PrivateDevices=yes\nProtectClock=yes"
PORTS = """\
# {ports}
# {no_clock}
SupplementaryGroups={groups}"""
USUAL_GROUP = "dialout"
APART = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - named, not written to
"""Folders of which the unit sees an empty one of its own."""


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def service(file: Path, output: Path | None) -> None:
        loaded = load_or_exit(talk, file)
        text = unit(talk, loaded.depot, _own_path())
        for path in (loaded.depot.file, Path(_own_path()), Path(sys.executable)):
            if (shut := _shut(path)) is not None:
                talk.say("service.shut", path=path, shut=shut)
        if output is None:
            click.echo(text, nl=False)
            return
        try:
            with whole(output) as out:
                out.write(text.encode())
        except OSError as error:
            talk.say("service.not_written", path=output, reason=why(talk, error.strerror))
            click.get_current_context().exit(EXIT_FAILED)
        talk.say("service.written", path=output)

    path = click.Path(dir_okay=False, path_type=Path)
    params: list[click.Parameter] = [
        file_argument(),
        click.Option(["-o", "--output"], type=path, help=talk.text("service.output")),
    ]
    return click.Command("service", callback=service, help=talk.text("command.service"), params=params)


def unit(talk: Talk, depot: Depot, vigia: str) -> str:
    """Return the unit for this depot, run by the program at `vigia`, its comments in the talk's language."""
    # systemd expands % and $ in most values; quotes keep blanks in paths together
    return UNIT.format(
        name=_plain(" ".join(depot.name.split())),
        vigia=vigia,
        file=_plain(shlex.quote(str(depot.file.resolve()))).replace("$", "$$"),
        language=depot.language,
        devices=_devices(talk, depot),
        **{name: talk.text(f"service.unit.{name}") for name in ("install", "refused", "kept", "secrets")},
    )


def _devices(talk: Talk, depot: Depot) -> str:
    """What the unit sees of ``/dev``: nothing, unless a line hangs on a port of this machine."""
    ports = [line.serial.device for bus in depot.buses if (line := bus.settings).serial]
    if not ports:
        return NO_PORTS
    groups = " ".join(sorted({_group(port) for port in ports}))
    return PORTS.format(
        groups=groups, ports=talk.text("service.unit.ports"), no_clock=talk.text("service.unit.no_clock")
    )


def _group(port: str) -> str:
    """The group that may use a port; the usual one while it is not plugged in."""
    try:
        name = Path(port).group()
    except (OSError, KeyError):
        return USUAL_GROUP
    return USUAL_GROUP if name == "root" else name


def _shut(path: Path) -> Path | None:
    """Return the folder or file on the way that the unit's own user cannot enter or read."""
    whole_path = path.resolve()
    if not whole_path.exists():
        return None
    for folder in reversed(whole_path.parents):
        if folder in APART or not folder.stat().st_mode & stat.S_IXOTH:
            return folder
    return None if whole_path.stat().st_mode & stat.S_IROTH else whole_path


def _plain(text: str) -> str:
    return text.replace("%", "%%")


def _own_path() -> str:
    beside = Path(sys.executable).with_name("vigia")
    return str(beside) if beside.exists() else shutil.which("vigia") or "vigia"
