"""The arms of a comparison: who governs a prefix, each in a process of its own that never sees the future."""
