"""The verdict on governed views: every status, the levels, and what a record tells of a loss."""

import hashlib

import bench_world as world
from selfgc.bench.cases import Case
from selfgc.bench.governed import Governed, Restorable
from selfgc.bench.judge.needs import Corpus, needs_of
from selfgc.bench.judge.reading import Reading
from selfgc.bench.judge.verbatim import Held
from selfgc.bench.judge.verdict import Judge
from selfgc.bench.records import Category, Status
from selfgc.bench.session import Session


def words(text):
    return len(text.split())


WIRE = world.messages()
SESSION = Session("one", "anthropic", {"system": "be brief"}, tuple(WIRE))
NEEDS = needs_of(
    Case("one", world.CUT, tuple(WIRE[: world.CUT]), tuple(WIRE[world.CUT :])),
    known_text=SESSION.system,
    held=Held(WIRE),
    corpus=Corpus(),
)
JUDGE = Judge("set", SESSION, Reading(words))


def judged(messages, *payloads):
    return JUDGE.judge(NEEDS, Governed(tuple(messages), tuple(payloads)), subject="x")


def with_result(number, text, wire=None):
    """The prefix with another text in the result of the call of that number."""
    changed = []
    for message in wire or WIRE[: world.CUT]:
        block = message["content"][0]
        is_it = block.get("tool_use_id") == f"c{number}"
        changed.append({**message, "content": [{**block, "content": text}]} if is_it else message)
    return changed


def payload(object_id, text, sha256=""):
    data = text.encode()
    return Restorable(object_id, data, sha256 or hashlib.sha256(data).hexdigest())


def losses(judgement, status):
    return [loss for loss in judgement.losses if loss.status is status]


def test_nothing_edited_is_all_visible():
    """Identity: every level, no restore, nothing pruned."""
    one = judged(WIRE[: world.CUT])
    assert [one.both.s0, one.both.s1, one.both.s2, one.face.s0] == [True] * 4
    assert (one.prune, one.net_prune, one.survival, one.losses) == (0, 0, 1, ())
    assert (one.contracts, one.contracts_kept, one.pointer_tokens) == (1, 1, 0)
    assert one.tokens == one.tokens_view > 0


def test_what_a_routing_pointer_gives_back_is_recoverable():
    """The command beside the pointer is a term that leads there; one restore, its tokens counted."""
    one = judged(with_result(2, "[folded function:Bash:2] shop.seats"), payload("function:Bash:2", world.ONCE_SHOWN))
    lost = losses(one, Status.RECOVERABLE)
    assert lost
    assert {loss.restored_by for loss in lost if loss.weight >= 0.5} == {"function:Bash:2"}
    assert not one.both.s0
    assert [one.both.s1, one.both.kept] == [True, True]
    assert (one.both.restores, one.restored_tokens) == (1, words(world.ONCE_SHOWN))
    assert one.net_prune < one.prune


def test_a_payload_without_a_way_to_it_is_unroutable():
    """The category is recovery routing."""
    one = judged(with_result(2, "gone"), payload("function:Bash:2", world.ONCE_SHOWN))
    assert {loss.category for loss in losses(one, Status.UNROUTABLE)} == {Category.ROUTING}
    assert [one.both.s1, one.both.kept] == [False, False]


def test_a_damaged_payload_holds_nothing():
    """What was promised by another hash is not there."""
    one = judged(
        with_result(2, "[folded function:Bash:2] shop.seats"), payload("function:Bash:2", world.ONCE_SHOWN, "0" * 64)
    )
    assert losses(one, Status.LOST)
    assert not losses(one, Status.RECOVERABLE)


def test_a_read_that_can_be_made_again_is_rederivable():
    """Its path stands in the call, and nobody wrote to the file before the cut."""
    one = judged(with_result(1, "gone"))
    assert losses(one, Status.REDERIVABLE)
    assert [one.both.s2, one.both.s1] == [True, False]
    (source,) = {loss.source for loss in losses(one, Status.REDERIVABLE)}
    assert source == "Read /srv/shop/prices/row_plan.py"


def test_a_command_cannot_be_made_again():
    """It may have changed something: what only it said is lost."""
    one = judged(with_result(2, "gone"))
    assert losses(one, Status.LOST)
    assert not one.both.s2
    assert 0 < one.survival < 1


def test_an_exact_line_is_verbatim_and_an_output_of_a_command_is_state():
    """The category says what kind of later action is left without support."""
    verbatim = judged(with_result(1, "gone")).losses
    assert Category.VERBATIM in {loss.category for loss in verbatim}
    state = judged(with_result(2, "gone")).losses
    assert Category.STATE in {loss.category for loss in state}


def test_a_rule_of_the_users_is_counted_whether_needed_or_not():
    """Contract survival."""
    one = judged([world.user("hello"), *WIRE[1 : world.CUT]])
    assert (one.contracts, one.contracts_kept) == (1, 0)


def test_what_the_user_said_is_a_contract():
    """A need whose source is the user's own text."""
    wire = [world.user("Use the token kx81fd02ab77 for it."), *WIRE[1:-5]]
    wire += [*world.exchange(9, "Bash", {"command": "login kx81fd02ab77"}, "ok"), world.agent("ok")]
    cut = len(wire) - 3
    session = Session("two", "anthropic", {}, tuple(wire))
    needs = needs_of(
        Case("two", cut, tuple(wire[:cut]), tuple(wire[cut:])), known_text="", held=Held(wire), corpus=Corpus()
    )
    judge = Judge("set", session, Reading(words))
    one = judge.judge(needs, Governed((world.user("x"), *wire[1:cut])), subject="x")
    assert {loss.category for loss in one.losses if loss.text == "kx81fd02ab77"} == {Category.CONTRACT}


def test_levels_count_only_what_weighs_enough():
    """Matcher A alone, matcher B alone, both, and B without the correction for chance."""
    one = judged(WIRE[: world.CUT])
    assert one.both.needed == one.a.needed + one.b.needed
    assert one.face.needed >= one.both.needed
