"""The governance room."""
