"""The settings of the LLM judge: which model, how often, within which limits, and what counts as no impact."""

from enum import StrEnum
from typing import Annotated

import msgspec

Whole = Annotated[int, msgspec.Meta(ge=1)]
Amount = Annotated[float, msgspec.Meta(ge=0)]


class Wire(StrEnum):
    """Which format the endpoint speaks."""

    MESSAGES = "anthropic"
    CHAT = "openai"


class JudgeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a run of the judge goes by. The judge's model should be another one than the planner's."""

    model: str
    cache_folder: str
    """Where every answer is kept. What is there is never asked again."""
    dialect: Wire = Wire.CHAT
    base_url: str = ""
    """Empty: the provider's own address."""
    api_key_env: str = ""
    """Name of the environment variable that holds the key. Empty: the endpoint needs none."""
    offline: bool = False
    """Never call; what is not in the cache counts as not asked."""
    votes: Whole = 3
    seed: int = 0
    """Decides the letters of the methods and who is shown first."""
    temperature: Amount | None = 0.0
    """None: not sent. An endpoint that refuses the field is asked without it."""
    structured: bool = True
    """Whether the answer's schema is sent. An endpoint that refuses it is asked without; the prompt has it too."""
    max_output_tokens: Whole = 4_000
    view_chars: Whole = 120_000
    """Characters of the retained prefix that are shown; a longer one is shown as a digest."""
    removed_chars: Whole = 60_000
    future_chars: Whole = 60_000
    plan_chars: Whole = 12_000
    parallel: Whole = 4
    """Cards that are asked about at the same time."""
    timeout: Annotated[float, msgspec.Meta(gt=0)] = 120.0
    """Seconds that one call may be silent."""
    max_seconds: Annotated[float, msgspec.Meta(gt=0)] = 3_600.0
    """Seconds of the whole run, after which nothing more is asked."""
    max_cost: Amount = 10.0
    """Dollars of the whole run; a call that could exceed them is not made."""
    price_input: Amount | None = None
    """Dollars for a million tokens. None: the catalogue's price for the model."""
    price_output: Amount | None = None
    retries: Annotated[int, msgspec.Meta(ge=0)] = 5
    backoff: Annotated[float, msgspec.Meta(ge=0)] = 1.0
    """Seconds before the first repetition; doubled each time, unless the endpoint names a time."""
    least_overall: float = 4.0
    """See `cards.is_without_impact`."""
    least_score: int = 3
    hidden_names: tuple[str, ...] = ("selfgc", "self-gc", "headroom", "tracegc", "opencode", "langchain")
    """Names that could tell a method; with the subject's own name they are blotted out of what it wrote."""
