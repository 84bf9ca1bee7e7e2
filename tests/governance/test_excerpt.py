"""What of a payload its pointer shows: whole lines, bare anchors, declarations, and what a plan wants kept."""

import pytest

from selfgc.governance.excerpt import LONGEST_LINE, excerpt, holds

PROSE = "the words of this line go on and on and on, and they say nothing at all that anybody would ask for again"


def shown(text, unseen=(), keep=(), *, is_document=False):
    return excerpt(text, unseen, keep, is_document=is_document).shown


# -- lines and anchors -----------------------------------------------------------------------------------


def test_nothing_is_shown_of_a_text_without_unseen_anchors():
    """What stands elsewhere in the view need not be told again."""
    assert excerpt("port 8080 on db-main-01", ()) == ([], frozenset())


def test_a_short_line_that_is_mostly_anchors_is_shown_whole():
    """Agents quote and match lines."""
    assert shown(f"{PROSE}\n  port: 48080, retries\n{PROSE}", {"48080"}) == ["port: 48080, retries"]


def test_of_a_line_of_prose_only_the_anchor_is_shown():
    """The words around it are what folding is to hide."""
    assert shown(f"{PROSE} 48080 {PROSE}", {"48080"}) == ["48080"]


def test_no_line_longer_than_the_limit_is_shown_whole():
    """However dense it is in anchors: they are shown by themselves, in their order in the line."""
    names = [f"anchor_{n:03}_of_the_line" for n in range(6)]
    line = " ".join(names)
    assert len(line) > LONGEST_LINE
    assert shown(line, set(names)) == names


def test_a_line_number_in_front_is_not_shown():
    """Harnesses number the lines of a file; the line itself is what is matched."""
    assert shown("   12\tport = 48080", {"48080"}) == ["port = 48080"]
    assert shown("   12→port = 48080", {"48080"}) == ["port = 48080"]


@pytest.mark.parametrize("line", ["import retry_budget", "from x import retry_budget", "def retry_budget(a):"])
def test_of_a_line_that_only_names_things_the_name_is_shown(line):
    """The rest of an import or a declaration says nothing more."""
    assert shown(line, {"retry_budget"}) == ["retry_budget"]


def test_an_anchor_is_shown_once_where_it_stands_first():
    """Later lines with it are passed over, and the text is not read further than needed."""
    assert shown("a 48080\nb 48080\nc 59090", {"48080", "59090"}) == ["a 48080", "c 59090"]
    assert shown("a 48080\nb 59090 and the rest", {"48080"}) == ["a 48080"]


def test_an_anchor_inside_a_longer_one_is_not_shown_by_itself():
    """The longer one shows it."""
    text = f"{PROSE} /srv/app/main.py {PROSE} app/main.py"
    assert shown(text, {"/srv/app/main.py", "app/main.py"}) == ["/srv/app/main.py"]


def test_an_anchor_that_is_only_the_beginning_of_a_longer_name_is_shown_too():
    """`idx_user` is another name than `idx_user_id`."""
    text = f"{PROSE} idx_user_id {PROSE} idx_user"
    assert shown(text, {"idx_user_id", "idx_user"}) == ["idx_user_id", "idx_user"]


def test_every_unseen_anchor_counts_as_shown():
    """So the next pointer, of an older object, does not show it again."""
    assert excerpt("a 48080\nb 59090", {"48080", "59090"}).anchors == {"48080", "59090"}


# -- documents and keep ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "def settle(order: Order) -> Receipt:",
        "export async function settle(order) {",
        "pub(crate) fn settle(order: &Order)",
        "- `class Ledger(Base)`",
        "CREATE TABLE orders (id bigint)",
        "settle(order: Order): Promise<Receipt>",
    ],
)
def test_declarations_in_a_document_are_shown(line):
    """Later work is written against them word for word."""
    (declared,) = shown(f"{PROSE}\n{line}\n{PROSE}", is_document=True)
    assert declared in line
    assert len(declared) > 15


def test_declarations_in_code_are_not_shown():
    """There they can be had from the file."""
    assert shown("def settle(order: Order) -> Receipt:") == []


def test_what_a_declaration_shows_is_not_shown_again():
    """Its anchors are told by it; other anchors follow."""
    text = "def settle_order(order_id)\nlimit 48080"
    assert shown(text, {"settle_order", "48080"}, is_document=True) == ["def settle_order(order_id)", "limit 48080"]


def test_a_document_without_declarations_is_read_as_any_text():
    """Nothing is made up for it."""
    assert shown("limit 48080", {"48080"}, is_document=True) == ["limit 48080"]


def test_strings_that_a_plan_wants_are_shown_when_the_text_holds_them():
    """What the text does not hold is ignored: a plan brings no text of its own into a view."""
    assert shown("alpha beta gamma", keep=("beta", "delta")) == ["beta"]


def test_a_wanted_string_inside_a_shown_line_is_not_shown_twice():
    """It is visible already."""
    assert shown("a 48080", {"48080"}, keep=("a 4",)) == ["a 48080"]


# -- holds -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "anchor", "expected"),
    [
        ("idx_user", "idx_user", True),
        ("idx_user_id", "idx_user", False),
        ("my_idx_user", "idx_user", False),
        ("idx_user_id, idx_user", "idx_user", True),
        ("(idx_user)", "idx_user", True),
        ("a/b.py", "/b.py", True),
        ("b.pyc", "b.py", False),
        ("nothing", "idx_user", False),
    ],
)
def test_a_name_is_held_as_a_whole_only(text, anchor, expected):
    """Letters, digits and `_` at its borders make it another name."""
    assert holds(text, anchor) is expected


def test_of_very_many_anchors_head_and_tail_are_shown():
    """A giant output keeps 2,000 of its names, from both ends, and says how many more there are."""
    text = "\n".join(f"job_{number:05} ended" for number in range(9000))
    found = excerpt(text, {f"job_{number:05}" for number in range(9000)})
    shown = "\n".join(found.shown)
    assert "job_00000" in shown
    assert "job_08999" in shown
    assert "… 7,000 more names and numbers stand in the payload" in found.shown
    assert "job_04500" not in shown


def test_one_long_line_is_read_in_pieces():
    """No anchor is cut where a piece ends, and the time does not grow with the square of the line."""
    text = ", ".join(f"item_{number}" for number in range(1500))
    found = excerpt(text, {f"item_{number}" for number in range(1500)})
    assert set(" ".join(found.shown).replace(",", " ").split()) >= {f"item_{number}" for number in range(1500)}
    assert excerpt("x" * 5000 + " last_name", {"last_name"}).shown == ["last_name"]
