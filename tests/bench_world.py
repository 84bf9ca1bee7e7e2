"""A small recorded session for tests of the bench: three user turns, and an edit that needs the first of them."""

import json
from pathlib import Path
from typing import Any

Wire = dict[str, Any]

PAD = "\n".join(
    f"line {number} of plain filler that nobody needs again, row after row after row" for number in range(900)
)
"""About 13,000 tokens."""
ONCE_SHOWN = "reserve_seat_twice(row_plan, held_until=48213)"
OLD_LINE = "    total_price = base_price * seat_count + service_charge_of(row_plan)"
BODY = f"def price_of(row_plan):\n{OLD_LINE}\n    return total_price\n"


def user(words: str) -> Wire:
    return {"role": "user", "content": [{"type": "text", "text": words}]}


def agent(words: str) -> Wire:
    return {"role": "assistant", "content": [{"type": "text", "text": words}]}


def exchange(number: int, tool: str, arguments: Wire, output: str) -> list[Wire]:
    """A call and its result."""
    name = f"c{number}"
    call = {"type": "tool_use", "id": name, "name": tool, "input": arguments}
    result = {"type": "tool_result", "tool_use_id": name, "content": output}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


def messages() -> list[Wire]:
    """Turn one reads and runs, turn two does little, turn three edits what turn one read."""
    return [
        user("Please look at the prices. Never touch the ledger file."),
        *exchange(1, "Read", {"file_path": "/srv/shop/prices/row_plan.py"}, BODY + PAD),
        *exchange(2, "Bash", {"command": "python -m shop.seats --all"}, f"{ONCE_SHOWN}\n{PAD[:9000]}\nexit code: 0"),
        *exchange(3, "Bash", {"command": "ls /srv/shop"}, PAD[:9000]),
        *exchange(4, "Bash", {"command": "git log"}, PAD[:9000]),
        agent("I have seen it."),
        user("Good. Is it noon?"),
        *exchange(5, "Bash", {"command": "date"}, "Tue Dec 1 12:00:00 UTC 2026"),
        agent("Yes."),
        user("Then change the price."),
        *exchange(
            6,
            "Edit",
            {"file_path": "/srv/shop/prices/row_plan.py", "old_string": OLD_LINE, "new_string": "    total_price = 1"},
            "done",
        ),
        *exchange(7, "Bash", {"command": f"python -c '{ONCE_SHOWN}'"}, "ok"),
        agent("Done."),
    ]


def write_session(folder: Path, name: str = "one", wire: list[Wire] | None = None, **meta: object) -> Path:
    """Write a session file with a meta member."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    request = {"model": "claude-sonnet-4", "messages": wire if wire is not None else messages()}
    path.write_text(json.dumps({"meta": {"id": name, **meta}, "request": request}))
    return path


CUT = len(messages()) - 6
"""Where the third turn begins: the one cut whose continuation needs the prefix."""
