"""Claude Code session files: from their lines to the request that the harness would send next.

1. An answer is written as one line a content block; the lines that share `message.id` are one message.
2. The results of its calls are one user message behind it, in the order of the calls, wherever in the file
   they stand; what else the user or the harness said there comes behind them in the same message.
3. Lines that tell of a failed request are no messages. System prompt and tools are not in the file.
4. Content blocks keep their bytes; blank texts, second results and results without a call are left out.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from selfgc.errors import ReadError
from selfgc.model.wire import encode, join_elements, join_members
from selfgc.readers.claude_branch import Branch, Tree
from selfgc.readers.claude_lines import Block, Line, read_lines
from selfgc.readers.json_text import json_text
from selfgc.readers.recording import Notes, Recording, Skipped, Usage

_SYNTHETIC = "<synthetic>"


class _Turn(msgspec.Struct):
    """An answer, none at the start, with what the user said and the tools returned before the next one."""

    answer: list[Line] = []
    said: list[Line] = []


class _Message(msgspec.Struct):
    raw: bytes
    timestamp: str | None
    usage: Usage | None = None


def read_claude_code(data: bytes, *, skip_bad: bool = False) -> Recording:
    """Return the live view of a session file: what the next request would hold. ReadError when there is none."""
    lines, skipped = read_lines(json_text(data), skip_bad=skip_bad)
    return _recording(lines, skipped)


def read_stages(data: bytes, *, skip_bad: bool = False) -> tuple[Recording, ...]:
    """Return the views that stood before each compaction, in order, and the live one.

    Within one stage requests only grew, so the billed usage of its messages can be compared with them.
    """
    lines, skipped = read_lines(json_text(data), skip_bad=skip_bad)
    ends = [index for index, line in enumerate(lines) if line.is_boundary and not line.is_sidechain]
    parts = [lines[:end] for end in ends if any(line.is_message for line in lines[:end])]
    return tuple(_recording(part, skipped) for part in (*parts, lines))


def _recording(lines: Sequence[Line], skipped: Sequence[Skipped]) -> Recording:
    distinct = _distinct(lines)
    of_sidechain = not any(line.is_message and not line.is_sidechain for line in distinct)
    own = [index for index, line in enumerate(distinct) if line.is_message and line.is_sidechain == of_sidechain]
    tree = Tree(distinct)
    branch = tree.live(own)
    view = _View(distinct, own, branch)
    messages = list(view.messages())
    if not messages:
        raise ReadError("expected a session with messages, but there is none in it; talk to the agent first")
    last = distinct[branch.path[-1]]
    return Recording(
        dialect="anthropic",
        body=_body(messages, view.model()),
        source="claude code session",
        name=last.session,
        timestamps=tuple(message.timestamp for message in messages),
        usage=tuple(message.usage for message in messages),
        skipped=tuple(skipped),
        notes=_notes(distinct, tree, view, len(lines) - len(distinct), of_sidechain=of_sidechain),
    )


def _distinct(lines: Sequence[Line]) -> list[Line]:
    """Return the lines without those whose uuid was there before."""
    seen: set[str] = set()
    distinct: list[Line] = []
    for line in lines:
        if line.uuid not in seen:
            distinct.append(line)
        if line.uuid:
            seen.add(line.uuid)
    return distinct


def _body(messages: Sequence[_Message], model: str) -> bytes:
    fields = {"messages": join_elements(message.raw for message in messages)}
    return join_members({"model": encode(model), **fields} if model else fields)


class _View:
    """The live branch of one session, turn by turn, and what was left out of it."""

    def __init__(self, lines: Sequence[Line], own: Sequence[int], branch: Branch) -> None:
        self.lines = lines
        self.own = own
        self.start = branch.start
        self.live = set(branch.path)
        self.blank = 0
        self.repeated = 0
        self.orphans = 0
        self.open_calls = 0
        self.empty_results = 0
        self._asked: set[str] = set()
        self._fragments = self._grouped()
        self._turns = self._split(branch.path)
        self._results = self._paired(branch.path)

    def model(self) -> str:
        """Return the model of the last answer, or an empty string."""
        models = (line.model for turn in reversed(self._turns) for line in reversed(turn.answer))
        return next((model for model in models if model and model != _SYNTHETIC), "")

    def messages(self) -> Iterator[_Message]:
        """Yield the messages of the view in order."""
        for turn in self._turns:
            blocks = self._visible(turn.answer)
            if blocks:
                yield _Message(_message("assistant", blocks), turn.answer[0].timestamp, _billed(turn.answer))
            yield from self._reply(turn, blocks)

    def _grouped(self) -> dict[str, list[int]]:
        """Return the lines of each answer by its key, in the order of the file."""
        grouped: dict[str, list[int]] = {}
        for index in self.own:
            if self.lines[index].kind == "assistant":
                grouped.setdefault(self._key(index), []).append(index)
        return grouped

    def _key(self, index: int) -> str:
        line = self.lines[index]
        return f"error {index}" if line.is_api_error else line.message_id or f"line {index}"

    def _split(self, path: Sequence[int]) -> list[_Turn]:
        turns = [_Turn([], [])]
        done: set[str] = set()
        for index in path:
            line = self.lines[index]
            if line.kind == "user":
                turns[-1].said.append(line)
            elif not line.is_api_error and self._key(index) not in done:
                done.add(self._key(index))
                fragments = self._fragments[self._key(index)]
                self.live.update(fragments)
                turns.append(_Turn([self.lines[fragment] for fragment in fragments], []))
        return turns

    def _paired(self, path: Sequence[int]) -> dict[str, tuple[int, Block]]:
        """Return the result of each call by the call's id; those on the branch come before those beside it."""
        calls = {block.call_id for turn in self._turns for line in turn.answer for block in _calls(line)}
        beside = [index for index in self.own if index not in self.live]
        results: dict[str, tuple[int, Block]] = {}
        for index in (*path, *beside):
            for block in self.lines[index].blocks:
                if block.kind == "tool_result" and block.call_id in calls and block.call_id not in results:
                    results[block.call_id] = (index, block)
                    self.live.add(index)
        return results

    def _visible(self, lines: Sequence[Line]) -> list[Block]:
        """Return the blocks of an answer without blank texts and without calls that were there before."""
        kept: list[Block] = []
        for block in (block for line in lines for block in line.blocks):
            if block.is_blank:
                self.blank += 1
            elif block.kind != "tool_use" or block.call_id not in self._asked:
                kept.append(block)
                self._asked.update(() if block.kind != "tool_use" or not block.call_id else (block.call_id,))
        return kept

    def _reply(self, turn: _Turn, answer: Sequence[Block]) -> Iterator[_Message]:
        """Yield the user message behind an answer, if there is one: results first, then what was said."""
        answered = [self._results.get(block.call_id) for block in answer if block.kind == "tool_use"]
        found = [result for result in answered if result is not None]
        self.open_calls += len(answered) - len(found)
        self.empty_results += sum(block.is_empty and self.lines[index].has_result_aside for index, block in found)
        said = [(line, block) for line in turn.said for block in self._said(line)]
        if not found and not said:
            return
        is_plain = not found and len(said) == 1 and said[0][0].is_plain
        raw = _message("user", [block for _, block in (*found, *said)], is_plain=is_plain)
        times = [line.timestamp for line in (*turn.said, *(self.lines[index] for index, _ in found)) if line.timestamp]
        yield _Message(raw, max(times, default=None))

    def _said(self, line: Line) -> Iterator[Block]:
        """Yield what is no result in a user line, and count what is left out."""
        for block in line.blocks:
            if block.is_blank:
                self.blank += 1
            elif block.kind != "tool_result":
                yield block
            elif block.call_id not in self._results:
                self.orphans += 1
            elif self._results[block.call_id][1] is not block:
                self.repeated += 1


def _calls(line: Line) -> list[Block]:
    return [block for block in line.blocks if block.kind == "tool_use" and block.call_id]


def _message(role: str, blocks: Sequence[Block], *, is_plain: bool = False) -> bytes:
    content = join_elements(block.raw for block in blocks)
    if is_plain:
        content = blocks[0].raw[len(b'{"type":"text","text":') : -1]
    return join_members({"role": encode(role), "content": content})


def _billed(lines: Sequence[Line]) -> Usage | None:
    """Return what was billed for an answer: each of its lines repeats it, and only the last one is complete."""
    told = [line.usage for line in lines if line.usage is not None]
    return max(reversed(told), key=lambda usage: usage.output) if told else None


def _notes(lines: Sequence[Line], tree: Tree, view: _View, duplicates: int, *, of_sidechain: bool) -> Notes:
    dead = [index for index in view.own if index not in view.live and not lines[index].is_api_error]
    is_compacted = lines[view.start].is_boundary or lines[view.start].is_summary
    before = [index for index in dead if is_compacted and index < view.start]
    left = frozenset(dead) - frozenset(before)
    aside = [index for index, line in enumerate(lines) if line.is_message and line.is_sidechain and not of_sidechain]
    unnamed = frozenset(index for index in aside if not lines[index].agent)
    kinds = Counter(line.kind for line in lines if not line.is_message)
    return Notes(
        sidechains=len({lines[index].agent for index in aside} - {""}) + tree.branches(unnamed),
        sidechain_lines=len(aside),
        compactions=sum(line.is_boundary for line in lines),
        compacted_lines=len(before),
        microcompactions=kinds["system:microcompact_boundary"],
        abandoned_branches=tree.branches(left),
        abandoned_lines=len(left),
        api_errors=sum(line.is_api_error for line in lines),
        duplicate_lines=duplicates,
        broken_links=tree.broken_links,
        blank_texts=view.blank,
        empty_results=view.empty_results,
        open_calls=view.open_calls,
        orphan_results=view.orphans,
        repeated_results=view.repeated,
        other_lines=dict(sorted(kinds.items())),
    )
