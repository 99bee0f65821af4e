"""The office: keeps the registers and judges the law, in a process of its own, so that no alarm waits for it."""
