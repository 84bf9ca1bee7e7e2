"""selfgc governs the context of long-running LLM agents."""
