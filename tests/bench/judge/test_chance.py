"""The natural experiment: what agents write from out of sight, and what from view."""

import json

import pytest

from selfgc.bench.judge.chance import (
    COMPACTED,
    Count,
    Field,
    Sight,
    experiment,
    is_compaction,
    main,
    table_of,
)
from selfgc.bench.judge.produced import Place

OLD = "the old warden counted every lantern along the northern gallery twice"
VIEW = "a young porter painted seven crooked benches beside the southern orchard"
LAST = "someone else repaired the leaking copper roof above the granite chapel"


def user(words):
    return {"role": "user", "content": words}


def agent(words):
    return {"role": "assistant", "content": words}


def step(arguments, output):
    return [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "tool", "input": arguments}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": output}]},
    ]


def compacted(*continuation):
    """One context with `OLD` in it; after it `VIEW` three turns ago and `LAST` one turn ago."""
    return [
        user("look"),
        *step({"command": "look"}, OLD),
        user(f"{COMPACTED} that ran out of context. There was work."),
        agent("I see"),
        user("first"),
        *step({"command": "look"}, VIEW),
        user("second"),
        *step({"command": "look"}, LAST),
        user("third"),
        *continuation,
    ]


def rows(counts):
    return [(count.place, count.kind, count.old, count.view) for count in counts]


def test_spans_are_counted_by_where_they_could_come_from():
    """By place and length, from out of sight and from view; the last two turns and new text count for neither."""
    written = [*step({"content": OLD}, "ok"), *step({"old_string": VIEW}, "ok"), agent(f"{LAST} and so on at once")]
    chance = experiment([("a", compacted(*written))])
    assert (chance.sessions, chance.compactions) == (1, 1)
    assert rows(chance.spans) == [(Place.EXACT, " 60-79", 0, 1), (Place.WRITTEN, " 40-59", 1, 0)]


def test_what_was_written_once_is_in_view():
    """The second time the agent has its own text to copy from."""
    chance = experiment([("a", compacted(*step({"content": OLD}, "ok"), *step({"content": OLD}, "ok")))])
    assert rows(chance.spans) == [(Place.WRITTEN, " 40-59", 1, 0)]


def test_long_spans_share_a_row():
    """From 160 characters on."""
    long = " ".join(f"lantern{number}" for number in range(30))
    messages = compacted(*step({"content": long}, "ok"))
    messages[2]["content"][0]["content"] = long
    assert [count.kind for count in experiment([("a", messages)]).spans] == ["160 and more"]


def test_remarks_and_thinking_are_left_out():
    """Only what the agent commits itself to counts."""
    calling, result = step({"command": "look"}, "ok")
    calling["content"].insert(0, {"type": "text", "text": OLD})
    assert experiment([("a", compacted(calling, result))]).spans == ()


def test_common_spans_do_not_count():
    """What another session holds is no sign."""
    messages = compacted(*step({"content": OLD}, "ok"))
    assert experiment([("a", messages)], [("b", [user(OLD)])]).spans == ()


def test_anchors_are_counted_by_kind():
    """Each once a message, when it is rare and weighs enough; what both sides hold counts for neither."""
    messages = compacted(
        *step({"command": "grep reserve_seat reserve_seat row_plan", "description": "porter_list"}, "ok")
    )
    messages[2]["content"][0]["content"] = "reserve_seat stands here with row_plan and porter_list"
    messages[7]["content"][0]["content"] = "row_plan again"
    chance = experiment([("a", messages)])
    assert rows(chance.anchors) == [(Place.ARGUMENT, "identifier", 1, 0)]
    common = experiment([("a", messages)], [("b", [user("reserve_seat")])])
    assert common.anchors == ()


def test_rates_are_set_against_what_is_held():
    """Of twice as much out of sight, twice as many are the same rate."""
    count = Count(Place.WRITTEN, "20-39", old=20, view=10, held_old=2_000, held_view=1_000)
    assert count.ratio == 1
    low, high = count.interval
    assert low == pytest.approx(1 / high)
    assert 2 < high < 2.2


def test_without_counts_there_is_no_ratio():
    """Nothing from view: no ratio; nothing from out of sight: a ratio of 0 without an interval."""
    none = Count(Place.WRITTEN, "20-39", old=3, view=0, held_old=10, held_view=10)
    zero = Count(Place.WRITTEN, "20-39", old=0, view=3, held_old=10, held_view=10)
    assert (none.ratio, none.interval, zero.ratio, zero.interval) == (None, None, 0, None)


def test_a_field_forgets_at_a_compaction():
    """Turns move from this one to the last, then into view, and out of sight at once."""
    field = Field()
    field.add({"x"})
    assert field.sight("x") is None
    field.begin(user("one"))
    assert field.sight("x") is None
    field.begin(user("two"))
    assert field.sight("x") is Sight.VIEW
    field.begin(user(COMPACTED))
    assert field.sight("x") is Sight.OLD
    field.add({"x"})
    field.begin(user("one"))
    field.begin(user("two"))
    assert field.sight("x") is None
    assert field.sight("y") is None


def test_a_compaction_may_share_a_message_with_a_result():
    """The harness's text comes after the result of the call that it interrupted; talk about it is none."""
    _, result = step({}, "ok")
    result["content"].append({"type": "text", "text": f"\n{COMPACTED} that ran out"})
    assert is_compaction(result)
    assert not is_compaction(user(f"Remember: {COMPACTED}"))
    assert not is_compaction(agent(COMPACTED))
    assert not is_compaction(step({}, COMPACTED)[1])


def test_tables_show_counts_and_rates():
    """Both matchers have the same columns."""
    counts = [
        Count(Place.EXACT, " 20-39", old=2, view=4, held_old=100, held_view=100),
        Count(Place.WRITTEN, " 20-39", old=2, view=0, held_old=100, held_view=100),
    ]
    table = table_of("spans", "characters", counts)
    cells = [list(column.cells) for column in table.columns]
    assert cells[:5] == [["exact", "written"], [" 20-39"] * 2, ["2", "2"], ["4", "0"], ["0.50", ""]]


def write(folder, messages):
    folder.mkdir()
    (folder / "one.json").write_text(json.dumps({"model": "claude-sonnet-4", "messages": messages}), "utf-8")
    return str(folder)


def test_the_program_prints_both_tables(tmp_path, capsys):
    """Over a folder of sessions, with another one that tells what is common."""
    folder = write(tmp_path / "one", compacted(*step({"content": OLD}, "ok")))
    others = write(tmp_path / "two", [user("hello"), agent("hello")])
    assert main([folder, "--others", others]) == 0
    printed = capsys.readouterr().out
    assert "1 compactions in 1 sessions" in printed
    assert "Matcher B" in printed
    assert "Matcher A" in printed


def test_without_compactions_there_is_nothing_to_compare(tmp_path, capsys):
    """The program says so and fails."""
    assert main([write(tmp_path / "one", [user("hello"), agent("hello")])]) == 1
    assert "nothing to compare" in " ".join(capsys.readouterr().out.split())


def test_a_folder_that_is_none_is_refused(tmp_path, capsys):
    """With the usage, before anything is read."""
    with pytest.raises(SystemExit):
        main([str(tmp_path / "none")])
    assert "is no folder of sessions" in capsys.readouterr().err
