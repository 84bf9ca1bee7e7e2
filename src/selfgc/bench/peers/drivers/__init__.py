"""What runs in a peer's own environment: a request comes in as a JSON line, the governed messages go out as one.

Nothing here may import selfgc or a package that is not the peer's: the peer's interpreter has neither. So these
modules know each other by relative imports alone, and each imports its peer in one function, when it is asked for.
"""
