"""The real packages of others as subjects of the bench, each in an environment and a process of its own.

`registry.py` names them, `environments.py` installs them, `drivers/` is the program that runs inside their
environment: it needs the peer and the standard library, nothing of selfgc.
"""
