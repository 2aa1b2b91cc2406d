"""Whether the threads that kernels are to run on can be had."""

from __future__ import annotations

from numba.np.ufunc import parallel


def refusal() -> str | None:
    """Start the threading layer that the environment asks for, as the first parallel kernel would.

    Returns
    -------
    Numba's words if it cannot be had (it is not installed, or is none), in one line; None if it runs.
    """
    try:
        parallel._launch_threads()  # type: ignore[no-untyped-call]
    except ValueError as error:
        return " ".join(str(error).replace("HINT:", "").split()).rstrip(".")
    return None
