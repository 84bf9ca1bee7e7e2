"""Which lines of a session are live."""

from selfgc.readers.claude_branch import Branch, Tree
from selfgc.readers.claude_lines import Line, Preserved


def said(uuid, parent, kind="user", **more):
    return Line(0, kind, uuid=uuid, parent=parent, **more)


def boundary(uuid, preserved=None):
    return Line(0, "system:compact_boundary", uuid=uuid, preserved=preserved)


def live(*lines):
    """Return the live uuids, and where the branch starts."""
    own = [index for index, line in enumerate(lines) if line.is_message and not line.is_sidechain]
    branch = Tree(lines).live(own)
    return [lines[index].uuid for index in branch.path], lines[branch.start].uuid


def test_nothing():
    """Without messages there is no branch."""
    assert Tree([]).live([]) == Branch()
    assert Branch().start == -1


def test_chain():
    """A chain is live from its root."""
    assert live(said("a", None), said("b", "a", "assistant"), said("c", "b")) == (["a", "b", "c"], "a")


def test_rewind():
    """After a rewind the latest branch is live."""
    lines = said("a", None), said("b", "a"), said("c", "b"), said("d", "a"), said("e", "d")
    assert live(*lines) == (["a", "d", "e"], "a")
    assert Tree(lines).branches(frozenset({1, 2})) == 1
    assert Tree(lines).branches(frozenset({1, 2, 3})) == 2
    assert Tree(lines).branches(frozenset()) == 0


def test_lines_between():
    """Lines that are no messages link messages, also dead ones to their branch."""
    lines = said("a", None), said("p", "a", "progress"), said("b", "p"), said("q", "b", "progress"), said("c", "q")
    assert live(*lines)[0] == ["a", "b", "c"]
    assert Tree(lines).branches(frozenset({2, 4})) == 1


def test_order_of_the_file():
    """The latest line of the file is the end, whatever its depth."""
    assert live(said("a", None), said("b", "a"), said("c", "b"), said("d", "c"), said("e", "a"))[0] == ["a", "e"]


def test_asides_are_no_end():
    """What the harness wrote on another branch does not make that branch live."""
    lines = said("a", None), said("b", "a"), said("c", "a"), said("m", "b", is_aside=True)
    assert live(*lines)[0] == ["a", "c"]


def test_asides_behind_the_end():
    """What the harness wrote right behind the end belongs to the live branch."""
    lines = said("a", None), said("m", "a", is_aside=True), said("x", "m", "attachment"), said("n", "x", is_aside=True)
    assert live(*lines)[0] == ["a", "m", "n"]


def test_only_asides():
    """With nothing but such lines the last one is the end."""
    assert live(said("a", None, is_aside=True), said("b", "a", is_aside=True))[0] == ["a", "b"]


def test_cycle():
    """A cycle in a broken file is walked once."""
    assert live(said("a", "c"), said("b", "a"), said("c", "b"))[0] == ["a", "b", "c"]
    assert live(said("a", "a"), said("b", "a"))[0] == ["a", "b"]


def test_missing_parent():
    """A line whose parent is gone comes behind the line before it, and is counted."""
    lines = said("a", None), said("b", "a"), said("s", None, is_sidechain=True), said("d", "gone"), said("e", "d")
    assert live(*lines)[0] == ["a", "b", "d", "e"]
    assert Tree(lines).broken_links == 1


def test_no_word_of_a_parent():
    """Lines of old files that name no parent follow each other."""
    lines = said("a", ""), said("", ""), said("c", "")
    assert live(*lines)[0] == ["a", "", "c"]
    assert Tree(lines).broken_links == 0


def test_first_uuid_counts():
    """A uuid that comes twice is the first line's."""
    assert live(said("a", None), said("a", "b"), said("b", "a"))[0] == ["a", "b"]


def test_deep_chain():
    """Depth costs no stack."""
    lines = [said("0", None)] + [said(str(n), str(n - 1)) for n in range(1, 20_000)]
    assert len(live(*lines)[0]) == 20_000


def test_boundary():
    """A boundary starts the view anew."""
    lines = said("a", None), said("b", "a"), boundary("B"), said("s", "B", is_summary=True), said("c", "s")
    assert live(*lines) == (["s", "c"], "B")


def test_last_boundary():
    """Only the last boundary on the way counts."""
    first = said("a", None), boundary("B"), said("s", "B", is_summary=True), said("c", "s")
    assert live(*first, boundary("C"), said("t", "C", is_summary=True), said("d", "t")) == (["t", "d"], "C")


def test_rewind_behind_a_boundary():
    """A branch that goes back to before the boundary is live without it."""
    lines = said("a", None), said("b", "a"), boundary("B"), said("s", "B", is_summary=True), said("c", "b")
    assert live(*lines) == (["a", "b", "c"], "a")


def test_summary_without_boundary():
    """In old files the summary alone starts the view anew."""
    assert live(said("a", None), said("s", "a", is_summary=True), said("b", "s")) == (["s", "b"], "s")
    assert live(said("a", None), said("s", None, is_summary=True), said("b", "s")) == (["s", "b"], "s")


OLD = said("a", None), said("b", "a"), said("c", "b"), said("d", "c")


def test_preserved_segment():
    """A preserved segment comes behind the summary, before what followed it."""
    kept = Preserved(anchor="s", head="c", tail="d")
    lines = *OLD, boundary("B", kept), said("s", "B", is_summary=True), said("e", "s"), said("f", "e")
    assert live(*lines) == (["s", "c", "d", "e", "f"], "B")


def test_preserved_messages():
    """Preserved messages come in their order, even one that was written behind the boundary."""
    kept = Preserved(anchor="s", uuids=("b", "c", "late", "never"))
    lines = *OLD, boundary("B", kept), said("s", "B", is_summary=True), said("late", "s"), said("e", "late")
    assert live(*lines) == (["s", "b", "c", "late", "e"], "B")


def test_preserved_before_the_summary():
    """Anchored at the boundary, what was kept comes before the summary."""
    kept = Preserved(anchor="B", head="a", tail="b")
    lines = *OLD, boundary("B", kept), said("s", "B", is_summary=True), said("e", "s")
    assert live(*lines) == (["a", "b", "s", "e"], "B")


def test_nothing_behind_what_was_preserved():
    """The view may end with the summary alone: a conversation that was just compacted."""
    kept = Preserved(anchor="s", head="c", tail="d")
    lines = *OLD, boundary("B", kept), said("s", "B", is_summary=True), said("m", "s", is_aside=True)
    assert live(*lines)[0] == ["s", "c", "d", "m"]


def test_preserved_without_anchor():
    """Without the anchor in the file, the summary behind the boundary is it."""
    kept = Preserved(anchor="gone", head="c", tail="d")
    assert live(*OLD, boundary("B", kept), said("s", "B", is_summary=True), said("e", "s"))[0] == ["s", "c", "d", "e"]


def test_preserved_without_anchor_and_summary():
    """With neither of them in the file, what was kept stands at the beginning."""
    kept = Preserved(anchor="gone", head="c", tail="d")
    lines = *OLD, boundary("B", kept), boundary("C"), said("s", "C", is_summary=True), said("e", "B")
    assert live(*lines) == (["c", "d", "e"], "B")
    assert live(*OLD, boundary("B", kept), said("e", "B"))[0] == ["c", "d", "e"]


def test_broken_segment():
    """A segment whose tail does not go back to its head is left out, and counted."""
    for kept in (Preserved("s", (), "x", "d"), Preserved("s", (), "c", "gone"), Preserved("c", ("c",)), Preserved("s")):
        lines = *OLD, boundary("B", kept), said("s", "B", is_summary=True), said("e", "s")
        assert live(*lines)[0] == ["s", "e"]
        assert Tree(lines).broken_links == 1


def test_segment_in_a_cycle():
    """A cycle within a segment ends the search."""
    lines = said("a", "b"), said("b", "a"), boundary("B", Preserved("s", (), "x", "b")), said("s", "B", is_summary=True)
    assert live(*lines)[0] == ["s"]


def test_preserved_twice():
    """What one compaction preserved can be preserved by the next one again."""
    first = *OLD, boundary("B", Preserved("s", (), "c", "d")), said("s", "B", is_summary=True), said("e", "s")
    lines = *first, boundary("C", Preserved("t", (), "d", "e")), said("t", "C", is_summary=True), said("f", "t")
    assert live(*lines) == (["t", "d", "e", "f"], "C")
