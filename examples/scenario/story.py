"""The whole story in order, and the request that stands open at its end."""

from scenario.part_four import BROKEN, LAST_REQUEST, RELEASE, RESERVE
from scenario.part_one import LEDGER, PARSER
from scenario.part_three import DUTY, HISTORY
from scenario.part_two import ECHOES, REPORTS

TURNS = (PARSER, LEDGER, REPORTS, ECHOES, HISTORY, DUTY, RESERVE, BROKEN, RELEASE)

__all__ = ["LAST_REQUEST", "TURNS"]
