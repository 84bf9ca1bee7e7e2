"""The sidecar: stores of journals, payloads and ledgers, and the check that what they hold is whole."""
