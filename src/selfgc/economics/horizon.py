"""How many calls are still to come: a prior that needs no history.

Pareto survival with exponent 2 and an offset: after n calls, as many again (plus the offset) are expected.
Over-estimating is the costly error on a warm cache, so the offset is small.
"""

OFFSET = 5.0


def calls_to_come(calls_so_far: int) -> float:
    """Return the expected number of calls still to come after so many calls of a session."""
    return calls_so_far + OFFSET
