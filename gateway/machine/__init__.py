"""What the operating system gives a process: clocks, limits, logs, the service manager, whole files."""
