"""Where an alarm is, and how a sentence says it. Knows no alarm."""

from dataclasses import dataclass

from alerts.messages.catalogue import Catalogue
from alerts.messages.phrases import clip


@dataclass(frozen=True, slots=True)
class Place:
    """Where it is. `area` and `detector` are empty for what belongs to the whole depot.

    Attributes:
        area: as people call it.
        detector: its id, which is never left out; `detector_name` as people call it, empty where nobody does. Of an
            output, whose subject is its id, only the name stands.
    """

    depot: str
    address: str = ""
    area: str = ""
    detector: str = ""
    detector_name: str = ""


def where(place: Place, catalogue: Catalogue, address: str, detector: str) -> str:
    """Name the depot, the street address, the area and the detector; what is empty is left out."""
    parts = [clip(place.depot, 36), clip(address, 80)]
    if place.area:
        parts.append(catalogue.text("format.area", area=clip(place.area, 30)))
    if detector:
        parts.append(catalogue.text("format.detector", detector=detector))
    return ", ".join(part for part in parts if part)


def named(place: Place, catalogue: Catalogue) -> str:
    """Call the detector by its id and, where it has one, by its name."""
    detector, name = clip(place.detector, 32), clip(place.detector_name, 32)
    return catalogue.text("format.named", id=detector, name=name) if detector and name else detector
