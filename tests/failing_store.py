"""A store that hands on to another one and fails at chosen calls, as a full disk or a lost connection would."""

from collections.abc import Collection

from selfgc.errors import StoreError


class FailingStore:
    """Counts the calls of each kind; a call whose number is among the chosen ones raises a StoreError."""

    def __init__(self, inner, *, append: Collection[int] = (), payload: Collection[int] = ()) -> None:
        self.inner = inner
        self.failing = {"append": append, "payload": payload}
        self.calls = {"append": 0, "payload": 0}

    def _call(self, kind):
        number = self.calls[kind]
        self.calls[kind] += 1
        if number in self.failing[kind]:
            raise StoreError(f"call {number} of {kind} fails")

    def append(self, session, **what):
        self._call("append")
        self.inner.append(session, **what)

    def payload(self, session, sha256):
        self._call("payload")
        return self.inner.payload(session, sha256)

    def __getattr__(self, name):
        return getattr(self.inner, name)
