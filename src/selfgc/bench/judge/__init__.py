"""The judge: which uses of a continuation needed the prefix, and what became of them in a governed view."""
