"""The economics room."""
