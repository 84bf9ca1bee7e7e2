"""Provider profiles: what an unknown model may do."""

from selfgc.model.profile import Profile, Thinking, Violation


def test_an_unknown_model_hands_out_reasoning_that_is_not_bound_to_its_prefix():
    """Reasoning is expected to be there, so that it is kept byte-equal; it is not priced as bound."""
    profile = Profile()
    assert (profile.name, profile.thinking, profile.binds_prefix) == ("unknown", Thinking.MANUAL, False)


def test_requests_that_keep_history_on_the_server_are_named():
    """Such requests are passed through, because the history is not in them."""
    assert "previous_response_id" in Profile().server_state


def test_a_violation_about_the_whole_request_names_no_message():
    """-1 and an empty call id mean: none."""
    violation = Violation("A32", "$", "too large; fold results")
    assert (violation.message, violation.call_id) == (-1, "")
