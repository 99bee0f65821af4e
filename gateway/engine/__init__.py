"""The engine: every live state of the watch and what follows from each event. Pure: no clock, wire, disk or wait."""
