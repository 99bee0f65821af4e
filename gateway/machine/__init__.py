"""What the operating system gives a process: clocks, limits, logs, sockets, the service manager, whole files."""
