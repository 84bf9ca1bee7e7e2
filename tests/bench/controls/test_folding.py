"""Where needs stand, and folds made by hand: what a need's sources are put away as, and what points to them."""

from control_cases import LINE, NAMES, body, judges, needing, prepared_of, session_of, vacuous
from selfgc.bench.controls.folding import Sources, foldable, folded, id_only, item_of, named, nameless, renamed
from selfgc.bench.controls.prepared import joined, parts_of
from selfgc.bench.records import Status

FOLDER, ENDING = "cd /srv/shop/back", "edit seats/row_plan.py"
PATH = "/srv/shop/back/seats/row_plan.py"


def shows_all(case, kept):
    parts = parts_of(case.cut, judges())
    seen = joined(parts[n] for n in range(len(parts)) if n in kept or n not in case.cut.deletable)
    return all(seen.holds(need) for need in case.strict)


def test_the_sources_are_the_messages_that_hold_a_need():
    """Three identifiers and a line, each in the result of its own call."""
    case = needing()
    sources = Sources(case, judges())
    assert sources.to_delete() == sources.everything() == sources.fewest() == {2, 4, 6, 8}


def test_of_several_sources_the_last_is_enough():
    """All must be deleted, one must be kept."""
    case = prepared_of(*session_of("one", [body("row_plan")] * 3, ("command", "grep row_plan")))
    sources = Sources(case, judges())
    assert sources.to_delete() == sources.everything() == {2, 4, 6}
    assert sources.fewest() == {6}


def test_what_is_put_together_needs_both_halves():
    """A folder here and an ending there: without one of them the path is gone."""
    case = prepared_of(*session_of("one", [FOLDER, "nothing", ENDING], ("file_path", PATH)))
    sources = Sources(case, judges())
    assert sources.fewest() == sources.everything() == {2, 6}
    assert shows_all(case, sources.fewest())
    assert not shows_all(case, set(case.cut.deletable) - sources.to_delete())
    assert len(sources.to_delete()) == 1


def test_a_half_in_the_tail_stays():
    """Only what may be deleted is."""
    session, cut = session_of("one", [ENDING], ("file_path", PATH))
    messages = (*session.messages[: cut - 1], {"role": "assistant", "content": FOLDER}, *session.messages[cut:])
    case = prepared_of(type(session)("one", "anthropic", {}, messages), cut)
    assert [need.anchor for need in case.strict] == [PATH]
    assert Sources(case, judges()).to_delete() == {2}
    assert Sources(case, judges()).fewest() == {2}


def test_a_split_span_is_deleted_window_by_window():
    """Messages that hold a part of it are sources of that part."""
    half = LINE.rpartition(" by ")[0]
    case = prepared_of(*session_of("one", [f"{LINE}", f"so {half}"], ("old_string", LINE)))
    sources = Sources(case, judges())
    assert sources.to_delete() == {2, 4}
    assert shows_all(case, sources.fewest())


def test_without_needs_there_is_nothing_to_keep():
    """A vacuous case has no sources."""
    sources = Sources(vacuous(), judges())
    assert sources.to_delete() == sources.everything() == sources.fewest() == set()


def fold_of(number=0):
    case = needing()
    return folded(case, case.strict[number], judges())


def test_the_sources_of_one_need_are_put_away():
    """A pointer stands in the place of each; the rest of the prefix is as it was."""
    fold = fold_of()
    view, prefix = fold.view(named), fold.case.cut.case.prefix
    assert [n for n in range(len(view)) if view[n] is not prefix[n]] == [2]
    assert view[2]["content"].startswith("[folded function:Bash:2] on warden, wrote, about")
    assert fold.case.strict == [needing().strict[0]]
    assert NAMES[0] not in view[2]["content"]


def test_of_a_span_the_words_beside_it_point():
    """None of them is one of the span's own."""
    fold = fold_of(4)
    assert fold.case.strict[0].text == LINE
    assert fold.folds[0].words == ("after",)


def test_a_good_pointer_leads_there_in_any_wording():
    """With id and words the need is recoverable; with one of them alone it is not."""
    fold = fold_of()
    status = {wording: fold.status(judges(), fold.view(wording), fold.items) for wording in _WORDINGS}
    assert status == {
        named: Status.RECOVERABLE,
        renamed: Status.RECOVERABLE,
        id_only: Status.UNROUTABLE,
        nameless: Status.UNROUTABLE,
    }


_WORDINGS = (named, renamed, id_only, nameless)


def test_a_need_that_stands_in_the_view_is_visible():
    """Nothing lost, nothing to recover."""
    fold = fold_of()
    assert fold.status(judges(), fold.case.cut.case.prefix, []) is Status.VISIBLE


def test_without_words_nothing_can_point():
    """A result that is the name alone has no neighbourhood."""
    case = prepared_of(*session_of("one", ["row_plan"], ("command", "grep row_plan")))
    assert folded(case, case.strict[0], judges()) is None


def test_another_spelling_has_no_place():
    """Where the need's own spelling does not stand, no words are taken."""
    case = prepared_of(*session_of("one", ["lanterns cost 48,213.70 there"], ("command", "pay 48213.7")))
    assert folded(case, case.strict[0], judges()) is None


def test_payloads_are_what_their_digest_promises():
    """Also with half a character pair in them."""
    assert item_of("x", "a \ud800 b").is_whole


def test_one_fold_is_made_for_each_case_with_needs():
    """Cases that cannot be pointed at and vacuous ones give none."""
    bare = prepared_of(*session_of("bare", ["row_plan"], ("command", "grep row_plan")))
    whole, good = foldable([needing(), bare, vacuous()], judges(), size=9, seed=1)
    assert (whole, [fold.case.cut.session.name for fold in good]) == (1, ["one"])


def test_an_unreachable_fold_is_counted_and_left_out(monkeypatch):
    """Where the pointers lead nowhere, no fold is good."""
    monkeypatch.setattr("selfgc.bench.controls.folding.named", id_only)
    assert foldable([needing()], judges(), size=9, seed=1) == (1, [])
