"""The ``vigia`` commands, one module each, and how they talk. Each is loaded only when it is asked for."""
