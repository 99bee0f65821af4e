"""What the operating system lets a process have: raised as far as it may be. Knows nothing else."""

import resource


def raise_descriptors() -> None:
    """Raise the number of files this process and its children may have open to the hard limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # a kernel that takes no such number: what there is has to do
        return
