"""Which lines of a Claude Code session are the live conversation.

1. The file is a tree: each line names its parent. The live branch ends in the latest message that neither
   the harness nor a team member wrote, and in what the harness wrote right behind it; it is read from there to
   the root.
2. A compaction boundary is a root. What it preserved of the lines before it is linked behind its anchor; what
   named the anchor as parent comes behind that.
3. A line whose parent is not in the file, and one that names none, comes behind the line before it.
4. Sidechains are no part of it, unless the file holds nothing else: then it is a subagent's own file.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from selfgc.readers.claude_lines import Line, Preserved

_ROOT = -1


class Branch(NamedTuple):
    """The live branch as indices of message lines, root first."""

    path: tuple[int, ...] = ()
    start: int = _ROOT
    """Index of the line that the branch starts with: a compaction boundary, a summary, or the root. -1: no branch."""


class Tree:
    """The lines of a session with the parent of each."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._by_uuid: dict[str, int] = {}
        for index, line in enumerate(lines):
            if line.uuid:
                self._by_uuid.setdefault(line.uuid, index)
        self._broken: set[int] = set()
        self._relinked: set[int] = set()
        self._tails: dict[int, int] = {}
        self._parents = self._links()
        self._children: defaultdict[int, list[int]] = defaultdict(list)
        for index, parent in enumerate(self._parents):
            self._children[parent].append(index)
        for index, line in enumerate(lines):
            if line.is_boundary and line.preserved is not None:
                self._preserve(index, line.preserved)

    @property
    def broken_links(self) -> int:
        """How many lines name a parent, and boundaries name preserved lines, that the file does not hold."""
        return len(self._broken)

    def live(self, own: Sequence[int]) -> Branch:
        """Return the live branch of a conversation; `own` holds the indices of all its message lines."""
        if not own:
            return Branch()
        members = frozenset(own)
        spoken = [index for index in own if not self._lines[index].is_aside]
        last = spoken[-1] if spoken else own[-1]
        walked = self._walk(self._leaf(members, self._tails.get(last, last), last))
        return Branch(tuple(index for index in reversed(walked) if index in members), walked[-1])

    def branches(self, dead: frozenset[int]) -> int:
        """Return how many branches these lines make up."""
        under: set[int] = set()
        tops = 0
        for index, parent in enumerate(self._parents):
            if parent in dead or parent in under:
                under.add(index)
            elif index in dead:
                tops += 1
        return tops

    def _links(self) -> list[int]:
        parents: list[int] = []
        before = {False: _ROOT, True: _ROOT}
        for index, line in enumerate(self._lines):
            parent = _ROOT
            if line.parent and line.parent != line.uuid and line.parent in self._by_uuid:
                parent = self._by_uuid[line.parent]
            elif line.parent is not None and not line.is_boundary:
                parent = before[line.is_sidechain]
                self._broken.update((index,) if line.parent else ())
            parents.append(parent)
            if line.uuid or line.is_message:
                before[line.is_sidechain] = index
        return parents

    def _preserve(self, boundary: int, preserved: Preserved) -> None:
        """Link what a boundary preserved behind its anchor, and what stood behind the anchor behind that."""
        named = [self._by_uuid[uuid] for uuid in preserved.uuids if uuid in self._by_uuid]
        kept = named or self._segment(preserved.head, preserved.tail)
        anchor = self._by_uuid.get(preserved.anchor, _ROOT)
        anchor = self._summary(boundary) if anchor == _ROOT else anchor
        if not kept or anchor in kept:
            self._broken.add(boundary)
            return
        for index in [index for index in self._children[anchor] if index > boundary and self._parents[index] == anchor]:
            self._link(index, kept[-1])
            self._relinked.add(index)
        for index, parent in zip(kept, [anchor, *kept], strict=False):
            self._link(index, parent)
        self._tails[anchor] = kept[-1]

    def _link(self, index: int, parent: int) -> None:
        self._parents[index] = parent
        self._children[parent].append(index)

    def _segment(self, head: str, tail: str) -> list[int]:
        """Return the lines from head to tail, or nothing when the tail does not go back to the head."""
        found: list[int] = []
        seen: set[int] = set()
        index = self._by_uuid.get(tail, _ROOT)
        while index != _ROOT and index not in seen:
            seen.add(index)
            found.append(index)
            if self._lines[index].uuid == head:
                return found[::-1]
            index = self._parents[index]
        return []

    def _summary(self, boundary: int) -> int:
        """Return the summary that belongs to a boundary, or the boundary when there is none before the next one."""
        for index in range(boundary + 1, len(self._lines)):
            if self._lines[index].is_summary:
                return index
            if self._lines[index].is_boundary:
                break
        return boundary

    def _leaf(self, members: frozenset[int], end: int, last: int) -> int:
        """Return the last message that the harness wrote behind the end, or the end; all of them come after `last`."""
        behind = {end}
        found = end
        for index in range(last + 1, len(self._lines)):
            if self._parents[index] in behind:
                behind.add(index)
                found = index if index in members else found
        return found

    def _walk(self, leaf: int) -> list[int]:
        """Return the line and its ancestors up to a root, a boundary, or a summary that starts anew."""
        walked: list[int] = []
        seen: set[int] = set()
        index = leaf
        while index != _ROOT and index not in seen:
            seen.add(index)
            walked.append(index)
            if self._is_start(index):
                break
            index = self._parents[index]
        return walked

    def _is_start(self, index: int) -> bool:
        line = self._lines[index]
        if line.is_boundary or not line.is_summary:
            return line.is_boundary
        parent = self._parents[index]
        return index not in self._relinked and (parent == _ROOT or not self._lines[parent].is_boundary)
