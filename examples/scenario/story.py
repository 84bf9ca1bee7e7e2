"""The whole story in order, and the request that stands open at its end."""

from scenario.part_one import LEDGER, PARSER, REPORTS
from scenario.part_two import DUTY, ECHOES, HISTORY

TURNS = (PARSER, LEDGER, REPORTS, ECHOES, HISTORY, DUTY)
LAST_REQUEST = "x"
