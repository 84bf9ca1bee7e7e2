"""The readers room."""
