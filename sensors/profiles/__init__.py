"""A device model as data: the files beside this one, their format, and what they become when a device is installed."""

from sensors.profiles.files import ProfileError, names
from sensors.profiles.profile import (
    NEUTRAL,
    Assumption,
    Profile,
    Provenance,
    example_settings,
    load,
    read_limits,
)

__all__ = [
    "NEUTRAL",
    "Assumption",
    "Profile",
    "ProfileError",
    "Provenance",
    "example_settings",
    "load",
    "names",
    "read_limits",
]
