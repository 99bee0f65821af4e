"""What the configuration says, as facts for the law."""

from collections.abc import Iterable
from datetime import date

from compliance.vocabulary import Fact, Subject
from gateway.depot import Depot


def configured(depot: Depot) -> Iterable[Fact]:
    """Yield what depot.toml says of each area."""
    for area in depot.areas:
        yield Fact(Subject("area", area.id), "licensed_kg", float(area.licensed_kg), date(1970, 1, 1))
