"""The engine room: the one place that wires transcript, planner, rehearsal, economics and store together."""
