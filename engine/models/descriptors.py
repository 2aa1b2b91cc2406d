"""File descriptors: how many connections this process may hold."""

from __future__ import annotations

import resource


def fit_descriptors(connections: int, spare: int = 64) -> tuple[int, str | None]:
    """How many connections this process may hold, after raising its soft limit as far as it is allowed to.

    Returns
    -------
    int
        ``connections``, or fewer.
    str or None
        A sentence for the user when it is fewer.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + spare
    if soft != resource.RLIM_INFINITY and soft < wanted:
        raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = raised
        except (OSError, ValueError):
            pass
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return connections, None
    fitting = max(1, soft - min(spare, soft // 2))
    note = f"this system allows {soft} open files: at most {fitting} calls in flight instead of {connections}"
    return fitting, note + " (ulimit -n raises it)"
