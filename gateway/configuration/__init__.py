"""depot.toml -> a checked `Depot`, or every mistake in it with its line and what would be right."""
