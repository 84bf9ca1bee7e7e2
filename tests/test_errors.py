"""The exception tree: who is caught by whom, and what each error carries."""

import pytest

from selfgc.errors import (
    Finding,
    PayloadCorrupt,
    PayloadMissing,
    PlanError,
    ReadError,
    SelfGCError,
    StalePlan,
    StoreError,
    UsageError,
    WireError,
)


@pytest.mark.parametrize(
    "error",
    [
        UsageError("x"),
        PlanError("x"),
        StalePlan("x"),
        WireError("x"),
        ReadError("x"),
        StoreError("x"),
        PayloadMissing("x"),
        PayloadCorrupt("x"),
    ],
)
def test_one_except_clause_catches_every_error_of_the_package(error):
    """Each error is a SelfGCError, and none is caught by a clause for a builtin such as ValueError."""
    assert isinstance(error, SelfGCError)
    assert type(error).__mro__[-3:] == (Exception, BaseException, object)


@pytest.mark.parametrize(
    ("error", "parent"), [(StalePlan, PlanError), (PayloadMissing, StoreError), (PayloadCorrupt, StoreError)]
)
def test_a_finer_error_is_caught_as_the_coarser_one(error, parent):
    """The tree has three children one level down."""
    assert error.__bases__ == (parent,)


def test_a_plan_error_has_no_findings_unless_it_is_given_some():
    """`findings` is always there to loop over."""
    assert PlanError("no plan").findings == ()


def test_a_plan_error_keeps_its_findings_as_a_tuple():
    """What is wrong is listed entry by entry, and a list handed in later changes nothing."""
    findings = [Finding("function:Read:1", "pinned", "it is pinned")]
    error = PlanError("two things are wrong", findings)
    findings.clear()
    assert error.findings == (("function:Read:1", "pinned", "it is pinned"),)
    assert str(error) == "two things are wrong"


def test_a_stale_plan_carries_findings_too():
    """A stale plan is a plan error in every respect."""
    assert StalePlan("stale", [Finding("", "stale", "plan again")]).findings[0].rule == "stale"


def test_a_wire_error_names_the_json_path_first():
    """A person sees where before what."""
    error = WireError("expected a list", "$.messages")
    assert (str(error), error.path) == ("$.messages: expected a list", "$.messages")


def test_a_wire_error_without_a_path_is_about_the_whole_text():
    """`$` is the root."""
    assert (str(WireError("no JSON")), WireError("no JSON").path) == ("$: no JSON", "$")


def test_a_read_error_names_its_line():
    """Session files have one record a line."""
    error = ReadError("expected JSON", 7)
    assert (str(error), error.line) == ("line 7: expected JSON", 7)


def test_a_read_error_about_a_whole_file_names_no_line():
    """Without a line the message stands alone."""
    error = ReadError("it is empty")
    assert (str(error), error.line) == ("it is empty", None)
