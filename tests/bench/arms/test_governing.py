"""Arms through our own engine: a view, its payloads, and pointers cut down where the arm says so."""

import json

import pytest

import bench_world as world
from selfgc.bench.arms.governing import govern
from selfgc.bench.arms.protocol import Ask
from selfgc.errors import UsageError

ASK = Ask("anthropic", {"model": "claude-sonnet-4", "messages": world.messages()[: world.CUT]}, protected=4)


def text(governed):
    return json.dumps(governed.messages)


def test_ours_folds_and_gives_back():
    """Payloads with the hash of what they hold."""
    governed = govern("reachability", ASK)
    assert "selfgc restore" in text(governed)
    assert all(item.is_whole for item in governed.payloads)
    assert any(world.OLD_LINE in item.text() for item in governed.payloads)
    assert json.loads(governed.plan)["planner"] == "reachability"
    assert governed.note == ""


def test_pointers_can_be_cut_down_to_the_id():
    """No anchor, no size; with routing the tool and its subject."""
    assert "price_of" in text(govern("reachability", ASK))
    bare, routing = text(govern("fold-all-id", ASK)), text(govern("fold-all-routing", ASK))
    assert "[folded: selfgc restore function:Read:1]" in bare
    assert "price_of" not in bare
    assert "[folded: selfgc restore function:Read:1] Read /srv/shop/prices/row_plan.py" in routing


def test_a_plan_file_is_an_arm(tmp_path):
    """Any outside planner can be tried."""
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"actions": [{"action": "prune", "id": "function:Bash:2"}]}))
    governed = govern(f"plan:{path}", ASK)
    assert world.ONCE_SHOWN not in text(governed)
    with pytest.raises(UsageError, match="expected a plan at"):
        govern(f"plan:{tmp_path}/none.json", ASK)


def test_nothing_to_do_is_told():
    """The reason of the engine's report."""
    governed = govern("reachability", Ask("anthropic", {"messages": [world.user("hello")]}))
    assert (len(governed.messages), governed.payloads) == (1, ())
    assert governed.note


def test_an_unknown_arm_is_refused():
    """With the names there are."""
    with pytest.raises(UsageError, match="expected an arm"):
        govern("magic", ASK)
