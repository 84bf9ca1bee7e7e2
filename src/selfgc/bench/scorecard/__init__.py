"""The LLM judge: cards of the paper's four dimensions from any Anthropic or OpenAI-compatible endpoint."""
