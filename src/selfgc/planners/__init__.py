"""The planners room."""
