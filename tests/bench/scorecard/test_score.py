"""Scoring over real HTTP, in both formats: the whole line from cases to cards."""

import itertools
import time
from pathlib import Path

import msgspec
import pytest

from bench.scorecard.scorecards import answer, case, settings, view
from selfgc.bench.cases import cases_of
from selfgc.bench.governed import Governed
from selfgc.bench.scorecard.cards import Came, ScoreCard
from selfgc.bench.scorecard.score import in_random_order, score_cases
from selfgc.bench.scorecard.settings import Wire
from selfgc.bench.sessions import read_session
from selfgc.economics.tokens import VocabularyCounter
from selfgc.engine.context import ContextEngine
from selfgc.errors import UsageError
from selfgc.testing import Answer, Failure, Hang, ScriptedProvider

SESSIONS = Path(__file__).parents[4] / "shared" / "sessions"
WIRES = pytest.mark.parametrize("dialect", list(Wire))
KEPT, PRUNED = view(), view(1, 2, plan='{"planner": "alpha"}')


def score(script, folder, dialect, views=None, cases=None, **changes):
    """Score these views of the one case; return the cards and the provider."""
    cases = [case()] if cases is None else cases
    views = {"alpha": {("s1", 6): PRUNED}} if views is None else views
    with ScriptedProvider(script) as provider:
        return score_cases(cases, views, settings(folder, provider, dialect, **changes)), provider


def judged(request):
    """A judge that finds fault whenever something was removed."""
    fields = request.fields
    content = fields["messages"][-1]["content"]
    prompt = content if isinstance(content, str) else content[0]["text"]
    return answer(5) if "(nothing)" in prompt else answer(1, status="fail", culprit="function:Read:1")


@WIRES
def test_good_answers_make_a_card(dialect, tmp_path):
    """Three votes, all counted."""
    (card,), provider = score([answer(5), answer(5), answer(4)], tmp_path, dialect, votes=3)
    assert (card.session, card.cut, card.subject) == ("s1", 6, "alpha")
    assert (card.no_impact, card.consistency) == (True, 1.0)
    assert card.overall == pytest.approx(14 / 3)
    assert len(provider.requests) == 3


@WIRES
@pytest.mark.parametrize(
    ("reply", "came"),
    [
        (answer()[:50], Came.BROKEN),
        (Answer(refusal="I cannot judge this"), Came.REFUSED),
        (Answer(answer(), is_truncated=True), Came.BROKEN),
        (Failure(500), Came.FAILED),
        (Failure(400, "prompt is too long"), Came.FAILED),
        (Hang(), Came.FAILED),
    ],
)
def test_what_is_no_answer_does_not_count(dialect, reply, came, tmp_path):
    """Half a JSON, a refusal, a cut-off answer, an endpoint that fails or hangs: the card says nothing."""
    (card,), _ = score([reply], tmp_path, dialect, retries=0, timeout=0.3)
    assert [vote.came for vote in card.votes] == [came]
    assert card.no_impact is None


@WIRES
def test_an_endpoint_that_recovers(dialect, tmp_path):
    """429, then good."""
    (card,), provider = score([Failure(429, retry_after=0.01), answer(5)], tmp_path, dialect)
    assert card.no_impact is True
    assert len(provider.requests) == 2


@WIRES
def test_tables_rebuild_offline(dialect, tmp_path):
    """The same cards from the disk alone, broken answers and refusals among them; not one request."""
    script = [answer(5), "half {", Answer(refusal="no"), Failure(500)]
    with ScriptedProvider(script) as provider:
        online = settings(tmp_path, provider, dialect, votes=4, retries=0)
        views = {"alpha": {("s1", 6): PRUNED}}
        (first,) = score_cases([case()], views, online)
        (again,) = score_cases([case()], views, msgspec.structs.replace(online, offline=True, api_key_env="NONE"))
    assert len(provider.requests) == 4
    assert again.votes[:3] == first.votes[:3]
    assert [vote.came for vote in again.votes] == [Came.SCORED, Came.BROKEN, Came.REFUSED, Came.UNASKED]


def test_offline_without_a_cache_says_so(tmp_path):
    """Every vote is unasked."""
    (card,), provider = score([], tmp_path, Wire.CHAT, offline=True, votes=3)
    assert {vote.came for vote in card.votes} == {Came.UNASKED}
    assert provider.requests == ()


def test_cards_do_not_depend_on_the_order_of_subjects(tmp_path):
    """Whatever order they are given in, the requests are the same and so are the cards."""
    views = {"alpha": {("s1", 6): PRUNED}, "beta": {("s1", 6): KEPT}, "gamma": {("s1", 6): view(2)}}
    runs = []
    for number, names in enumerate(itertools.permutations(views)):
        chosen = {name: views[name] for name in names}
        cards, provider = score(judged, tmp_path / str(number), Wire.CHAT, chosen, votes=2, parallel=3)
        runs.append((cards, sorted(request.body for request in provider.requests)))
    assert all(run == runs[0] for run in runs)
    assert [(card.subject, card.no_impact) for card in runs[0][0]] == [
        ("alpha", False),
        ("beta", True),
        ("gamma", False),
    ]
    assert runs[0][0][0].culprit == "function:Read:1"


def test_who_else_takes_part_asks_nothing_anew(tmp_path):
    """A subject that joins later leaves the answers for the others as they are."""
    with ScriptedProvider(judged) as provider:
        plain = settings(tmp_path, provider)
        (alone,) = score_cases([case()], {"alpha": {("s1", 6): PRUNED}}, plain)
        views = {"beta": {("s1", 6): KEPT}, "alpha": {("s1", 6): PRUNED}}
        assert score_cases([case()], views, plain)[0] == alone
    assert len(provider.requests) == 2


def test_the_judge_never_sees_a_subjects_name(tmp_path):
    """Not in the plan, not in pointers; equal views are one request, so equal views have equal cards."""
    views = {name: {("s1", 6): view(1, 2, plan=f'{{"planner": "{name}"}}')} for name in ("alpha", "beta", "alpha@0.44")}
    cards, provider = score(judged, tmp_path, Wire.CHAT, views, parallel=3)
    (request,) = provider.requests
    assert not any(name in request.body for name in (b"alpha", b"beta"))
    assert len({(card.letters, card.votes) for card in cards}) == 1


def test_subjects_may_lack_cases(tmp_path):
    """There is a card for each view of a known case, ordered by session, cut and subject."""
    views = {"b": {("s2", 6): KEPT, ("s1", 6): KEPT, ("s9", 6): KEPT}, "a": {("s2", 6): KEPT}}
    cards, _ = score(judged, tmp_path, Wire.CHAT, views, cases=(case("s2"), case("s1")))
    assert [(card.session, card.subject) for card in cards] == [("s1", "b"), ("s2", "a"), ("s2", "b")]


def test_a_case_that_is_there_twice_is_refused(tmp_path):
    """Two sets may have sessions of the same name."""
    with pytest.raises(UsageError, match="one set at a time"):
        score([], tmp_path, Wire.CHAT, cases=(case(), case()))


def test_limits_leave_votes_unasked(tmp_path):
    """The card says so and says nothing else."""
    (card,), provider = score(["unused"], tmp_path, Wire.CHAT, max_cost=0.0)
    assert card.votes[0].came is Came.UNASKED
    assert "0 dollars" in card.votes[0].note
    assert provider.requests == ()


def test_the_second_vote_reads_the_providers_cache(tmp_path):
    """The same words are asked again with a mark, so the input is read and not paid in full."""
    usages = []
    _, provider = score([answer(5)] * 3, tmp_path, Wire.MESSAGES, votes=3)
    for path in sorted(tmp_path.rglob("*.json")):
        said = msgspec.json.decode(path.read_bytes())["said"]
        usages.append((said["read"] > 0, said["written"] > 0))
    assert sorted(usages) == [(False, True), (True, False), (True, False)]
    assert len(provider.requests) == 3


def test_cards_are_records(tmp_path):
    """They go through JSON lines and come back."""
    cards, _ = score([answer(5)], tmp_path, Wire.CHAT)
    assert msgspec.json.decode(msgspec.json.encode(cards[0]), type=ScoreCard) == cards[0]


def test_jobs_are_done_in_the_seeds_order(tmp_path):
    """Another seed, another order; what came stands in the jobs' own order."""
    orders = []
    for seed in range(4):
        done = []

        def work(job, done=done):
            done.append(job)
            return job * 2

        assert in_random_order(range(20), work, settings(tmp_path, seed=seed)) == [job * 2 for job in range(20)]
        orders.append(tuple(done))
    assert len(set(orders)) == 4


def test_an_error_begins_nothing_more(tmp_path):
    """Jobs that wait are dropped, so that an interrupt makes no more calls."""
    done = []

    def work(job):
        done.append(job)
        time.sleep(0.005)
        raise UsageError("no key")

    with pytest.raises(UsageError, match="no key"):
        in_random_order(range(200), work, settings(tmp_path))
    assert len(done) < 100


@pytest.mark.shared
@pytest.mark.skipif(not SESSIONS.exists(), reason="the recorded sessions are not there")
def test_a_recorded_session_is_put_before_the_judge_within_bounds(tmp_path):
    """A governed prefix of tens of thousands of tokens fits the limits of each part, whatever was removed."""
    session = read_session(SESSIONS / "s22.json")
    cut = cases_of(session.name, session.messages, VocabularyCounter().count)[-1]
    engine = ContextEngine(dialect=session.dialect)
    engine.observe(cut.prefix, **session.fields)
    engine.maintain(is_cold=True)
    views = {"alpha": {(cut.session, cut.cut): Governed(tuple(engine.view()))}, "beta": {(cut.session, cut.cut): KEPT}}
    limits = {"view_chars": 40_000, "removed_chars": 20_000, "future_chars": 20_000}
    cards, provider = score(judged, tmp_path, Wire.CHAT, views, cases=[cut], **limits)
    assert [card.no_impact for card in cards] == [False, False]
    rules = len(provider.requests[0].fields["messages"][0]["content"])
    assert all(len(request.fields["messages"][1]["content"]) < 80_000 + rules for request in provider.requests)
