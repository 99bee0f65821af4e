"""The watch's child processes: starting them, missing them, and the web child's own entry."""
