"""Planners: what proposes plans, from a snapshot of the prefix alone."""
