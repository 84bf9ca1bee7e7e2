import pytest, time
from hypothesis import given, settings, HealthCheck, strategies as st
from transcripts import transcripts, schedules
from invariant_checks import CHECKS
@pytest.mark.parametrize("dialect",["anthropic","chat"])
@pytest.mark.parametrize("number",list(CHECKS))
def test_x(number,dialect):
    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(transcripts(dialect), schedules())
    def go(t,s):
        CHECKS[number](t,s,"memory")
    go()
