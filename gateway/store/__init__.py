"""Readings: kept in the depot's own file, and sent on to a database by way of a spool. No alarm waits for either."""
