"""Small sessions with needs, prepared as the controls want them."""

from selfgc.bench.cases import Case
from selfgc.bench.controls.judging import SessionJudges
from selfgc.bench.controls.prepared import Cut, Prepared, dice
from selfgc.bench.judge.needs import Corpus, needs_of
from selfgc.bench.judge.verbatim import Held
from selfgc.bench.session import Session

LINE = "the reservation of seat twelve was released by the night porter before dawn"
NAMES = ("reserve_seat", "row_plan", "porter_list", "gallery_door", "night_shift", "seat_total")


def user(words):
    return {"role": "user", "content": words}


def agent(words):
    return {"role": "assistant", "content": words}


def step(arguments, output, number=0, name="Bash"):
    key = f"call_{number}"
    return [
        {"role": "assistant", "content": [{"type": "tool_use", "id": key, "name": name, "input": arguments}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": key, "content": output}]},
    ]


def body(name):
    return f"the warden wrote about {name} and about lanterns\nand nothing else stands here"


def noise(seed, lines=80):
    """Lines of words that nobody else writes; the same for the same seed."""
    chance = dice("noise", seed)
    words = (["".join(chance.choices("abcdefghiklmnoprstu", k=7)) for _ in range(9)] for _ in range(lines))
    return "\n".join(map(" ".join, words))


def prefix_of(outputs):
    """A first turn that prints the outputs, and a last one that is protected."""
    steps = [part for number, output in enumerate(outputs) for part in step({"command": "look"}, output, number)]
    return [user("look around"), *steps, agent("done"), user("and now"), agent("ready")]


def session_of(name, outputs, *uses, timestamps=()):
    """A session whose last turn uses strings by their argument's key."""
    prefix = prefix_of(outputs)
    used = [part for number, (key, value) in enumerate(uses) for part in step({key: value}, "ok", 90 + number)]
    messages = (*prefix, user("go on"), *used)
    return Session(name, "anthropic", {"model": "m"}, messages, timestamps), len(prefix)


def prepared_of(session, cut, corpus=None):
    case = Case(session.name, cut, session.messages[:cut], session.messages[cut:])
    made = Cut("set", session, case, Held(session.messages))
    return Prepared(made, needs_of(case, known_text=session.system, held=made.held, corpus=corpus or Corpus()))


def needing(name="one", names=NAMES[:3]):
    """A case that needs a few identifiers and a line, each from a result of its own."""
    outputs = [*map(body, names), f"before it\n{LINE}\nand after it", "nothing of note", "nothing here either"]
    uses = [("command", f"grep {wanted}") for wanted in names]
    return prepared_of(*session_of(name, outputs, *uses, ("old_string", LINE)))


def vacuous(name="none"):
    return prepared_of(*session_of(name, map(body, NAMES), ("command", "list")))


def count(text):
    return len(text) // 4


def judges():
    return SessionJudges(count)
