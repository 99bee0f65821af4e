"""Finding heads, trying how they are read, and proving them: what `probe`, `scan`, `discover` and `bump` do."""
