"""The records of a run: what is written as JSON lines, and what every table and figure is made from."""

from enum import StrEnum

import msgspec


class Status(StrEnum):
    """What became of one needed use in a governed view."""

    VISIBLE = "visible"
    RECOVERABLE = "recoverable"
    """A pointer in the view routes to a payload that holds it."""
    UNROUTABLE = "unroutable"
    """A payload holds it, but nothing in the view leads there."""
    REDERIVABLE = "rederivable"
    """It came from a read that can be made again, whose key is visible, and nothing has changed it since."""
    LOST = "lost"


class Category(StrEnum):
    """The paper's six kinds of failure: what future action becomes unsupported."""

    EVIDENCE = "evidence"
    LOCATOR = "locator"
    CONTRACT = "contract"
    VERBATIM = "verbatim"
    STATE = "state"
    ROUTING = "routing"


class Loss(msgspec.Struct, frozen=True):
    """One needed use that is not visible any more."""

    matcher: str
    """`A` (typed anchors) or `B` (verbatim spans)."""
    text: str
    kind: str
    place: str
    where: str
    """The tool and argument that used it, or the place again."""
    step: int
    """The assistant message of the continuation that used it, counted from 1."""
    weight: float
    status: Status
    category: Category
    source: str = ""
    """The last object of the prefix that held it: tool and subject."""
    source_message: int = -1
    """Index of that object's message in the prefix."""
    restored_by: str = ""
    """The id that gives it back."""


class Levels(msgspec.Struct, frozen=True):
    """The verdicts over one matcher's needed uses of weight 0.5 and more."""

    needed: int
    visible: int
    s0: bool
    """All visible."""
    s1: bool
    """All visible or recoverable, with at most two restores."""
    s2: bool
    """As S1, or re-derivable."""
    kept: bool
    """All visible or recoverable, however many restores: nothing is lost."""
    restores: int
    """Restores that bring back what can be had."""


class CaseRecord(msgspec.Struct, frozen=True, tag="case"):
    """One case, whatever the subject."""

    set: str
    """The set it belongs to: the name of the folder."""
    session: str
    cut: int
    kind: str
    """What the session is about, where its file says so; else the agent."""
    user_turns: int
    """User turns of the whole session."""
    boundary: str
    """`turn` or `step`: where it was cut."""
    is_headline: bool
    """The one cut of its session that stands in the headline."""
    is_hard: bool
    tokens: int
    """Tokens of the prefix, system prompt and tools included."""
    protected_tokens: int
    """Of those, tokens that every method keeps."""
    needed_a: int
    needed_b: int
    """Needed uses of weight 0.5 and more."""

    @property
    def is_vacuous(self) -> bool:
        """Whether nothing of the prefix was needed, so that no method can fail."""
        return self.needed_a + self.needed_b == 0


class Judgement(msgspec.Struct, frozen=True, tag="judgement"):
    """One subject on one case."""

    set: str
    session: str
    cut: int
    subject: str
    rate: float | None
    """The prune rate that was asked for; None: the subject's own default."""
    tokens: int
    tokens_view: int
    restored_tokens: int
    """Tokens that the restores of the united matchers bring back."""
    a: Levels
    b: Levels
    both: Levels
    face: Levels
    """Both matchers, with every span of 24 characters at the weight of its place: without the correction for chance."""
    survival: float
    """Share of the needed uses' weight that is visible, 0 to 1; 1 when nothing was needed."""
    contracts: int
    """Sentences of the user's that state a rule."""
    contracts_kept: int
    losses: tuple[Loss, ...]
    pointer_tokens: int = 0
    """Tokens of messages that are not the prefix's own, where pointers stand."""
    seconds: float = 0.0
    plan_digest: str = ""
    is_valid: bool = True
    fault: str = ""
    """What went wrong in the subject; the case is then judged ungoverned."""

    @property
    def prune(self) -> float:
        """Share of the tokens that the view does not hold, pointers counted."""
        return 1 - self.tokens_view / self.tokens

    @property
    def net_prune(self) -> float:
        """As `prune`, with what the restores bring back counted."""
        return 1 - (self.tokens_view + self.restored_tokens) / self.tokens


class ControlRecord(msgspec.Struct, frozen=True, tag="control"):
    """One control of the judge: what was expected, what came, and whether it holds."""

    name: str
    expected: str
    found: str
    holds: bool


class Bill(msgspec.Struct, frozen=True, tag="bill"):
    """One session replayed call by call under one policy, price sheet and lifetime. Money in dollars."""

    set: str
    session: str
    policy: str
    sheet: str
    lifetime: str
    """`5m` or `1h`; empty where the provider has one only."""
    calls: int
    tokens_mean: float
    """Input tokens a call."""
    tokens_peak: int
    read: int
    written: int
    uncached: int
    output: int
    money_read: float
    money_written: float
    money_uncached: float
    money_output: float
    money_planner: float
    money_restores: float
    breaks: int
    commits: int
    restores: float
    regret: float | None = None
    """Dollars above the best commit times, where they were worked out."""
    tokens_by_call: tuple[int, ...] = ()
    """Input tokens of each call; only for the sessions that are drawn."""

    @property
    def money_input(self) -> float:
        """What is paid for input, restores and the planner included."""
        return self.money_read + self.money_written + self.money_uncached + self.money_planner + self.money_restores

    @property
    def money(self) -> float:
        """What is paid in all."""
        return self.money_input + self.money_output


Record = CaseRecord | Judgement | ControlRecord | Bill
