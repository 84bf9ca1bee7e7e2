"""The command line: one module a command, which parses and prints; what it does stands in the rooms below."""
