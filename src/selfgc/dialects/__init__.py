"""The dialects room."""
