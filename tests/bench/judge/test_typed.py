"""Extraction of typed anchors, and the spellings of each."""

import pytest

from selfgc.bench.judge.typed import (
    LONGEST,
    Anchor,
    Kind,
    all_spelled,
    anchors,
    canonical_path,
    line_anchor,
    path_anchor,
    spellings,
)


def found(text, kind):
    return [anchor.text for anchor in anchors(text) if anchor.kind is kind]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://shop.test/orders/17?x=1, then", ["https://shop.test/orders/17?x=1"]),
        ("(https://shop.test/a/)", ["https://shop.test/a"]),
        ("http://localhost:3000 is up", []),
        ("postgres://u:p@db/x", ["postgres://u:p@db/x"]),
    ],
)
def test_urls(text, expected):
    """URLs end before punctuation; bare local hosts are no anchors."""
    assert found(text, Kind.URL) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("edit app/billing/invoice.py now", ["app/billing/invoice.py"]),
        (r"C:\srv\shop\cart.ts:12", ["C:/srv/shop/cart.ts"]),
        ("cd /srv/shop/orders/", ["/srv/shop/orders"]),
        ("GET /api/orders/open", ["/api/orders/open"]),
        ("fix cart_totals.py", ["cart_totals.py"]),
        ("read/write and either/or/both", []),
        (r"grep 'a\.b\w'", []),
        ("on 12/03/2025", []),
        ("src/index.ts", []),
        ("read README.md", []),
        ("src/ui/cart", ["src/ui/cart"]),
        (r"App\Models\Order", []),
    ],
)
def test_paths(text, expected):
    """A path has an ending, a root or a usual folder; words with slashes and regular expressions are none."""
    assert found(text, Kind.PATH) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("commit 9fceb02d0ae598", ["9fceb02d0ae598"]),
        ("commit 4ac12ca8", ["4ac12ca8"]),
        ("ticket SHOP-1733 open", ["SHOP-1733"]),
        ("text-gray-500 slate-900", []),
        ("3m3-3v12 and 1.2.3-slim-bookworm-123", []),
        ("test_limit_404_rejected", []),
        ("2025-03-28T10 at", []),
        ("checkout orders-v2", []),
        ("1234567890", []),
    ],
)
def test_ids(text, expected):
    """An id mixes letters with three digits or more; style classes and times are none."""
    assert found(text, Kind.ID) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("total 1,234.50 due", ["1234.5"]),
        ("$1,733 and 45% and 12 MB", ["$1733", "45%", "12MB"]),
        ("error 40901", ["40901"]),
        ("line 1733, lines 1744", []),
        ("a.py:1733", []),
        ("5 of 30, 1000, 404", []),
        ("9% off", []),
    ],
)
def test_numbers(text, expected):
    """Numbers have three significant digits, or two with a unit; line numbers and statuses are none."""
    assert found(text, Kind.NUMBER) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("say 'seat is taken' here", ["seat is taken"]),
        ('x = "a" + foo + "b"', []),
        ("`reserve the seat`", ["reserve the seat"]),
        ("“please wait  here”", ["please wait here"]),
        ("'plainword'", []),
        ("' , spaced , '", []),
        ("'12: 34: 56'", []),
        ("'a:b:cd'", []),
    ],
)
def test_quoted(text, expected):
    """A quotation has letters and more than one word; what stands between two quotations is none."""
    assert found(text, Kind.QUOTED) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("call reserve_seat() on SeatPlan", ["reserve_seat", "SeatPlan"]),
        ("MEDIA_SIGN_SECRET", ["MEDIA_SIGN_SECRET"]),
        ("HTTPServer2", ["HTTPServer2"]),
        ("$rowView", ["rowView"]),
        ("ordinary words", []),
        ("useState created_at", []),
    ],
)
def test_identifiers(text, expected):
    """Compound names of code are identifiers; words and everybody's names are not."""
    assert found(text, Kind.IDENTIFIER) == expected


def test_errors():
    """An error is taken from its class to the end of the line."""
    assert found("got\nshop.SeatError: row 7 is gone.\nend", Kind.ERROR) == ["shop.SeatError: row 7 is gone"]


def test_what_stands_in_a_path_is_not_taken_again():
    """A path's own words are no further anchors, except where everything that is spelled counts."""
    text = "open app/seat_plan/row_view.py"
    assert [anchor.text for anchor in anchors(text)] == ["app/seat_plan/row_view.py"]
    assert {"app/seat_plan/row_view.py", "seat_plan", "row_view"} <= set(all_spelled(text))


def test_each_anchor_is_yielded_once():
    """The same name twice is one anchor, of the first kind that finds it."""
    assert list(anchors("ticket SHOP_1733 and SHOP_1733")) == [Anchor(Kind.ID, "SHOP_1733")]


def test_long_lines_and_long_anchors_are_left_out():
    """Minified lines are not searched; an anchor longer than the limit is none."""
    assert list(anchors("reserve_seat;" * 200)) == []
    assert [anchor.text for anchor in anchors("[" + "reserve_seat;" * 200)] == ["reserve_seat"]
    assert found("reserve_seat\n" + "x" * 3_000, Kind.IDENTIFIER) == ["reserve_seat"]
    assert found("https://shop.test/" + "a" * LONGEST, Kind.URL) == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("    return  seats[row]", "return seats[row]"),
        ("  });", None),
        ("=== --- ===", None),
        ("x" * 3_000, None),
    ],
)
def test_lines(line, expected):
    """A line of eight characters with a word in it is exact text; brackets and rules are not."""
    anchor = line_anchor(line)
    assert (anchor and anchor.text) == expected


def test_whole_paths():
    """A string that is known to be a path may hold spaces; usual names and odd lengths are none."""
    assert path_anchor("C:\\My Files\\plan b") == Anchor(Kind.PATH, "C:/My Files/plan b")
    assert path_anchor("./README.md") is None
    assert path_anchor("a") is None
    assert path_anchor("a\nb/c") is None
    assert canonical_path("./a//b/") == "a/b"


@pytest.mark.parametrize(
    ("anchor", "spelling"),
    [
        (Anchor(Kind.URL, "https://shop.test/a%20b"), "https://shop.test/a b"),
        (Anchor(Kind.URL, "https://shop.test/ä"), "https://shop.test/%C3%A4"),
        (Anchor(Kind.PATH, "C:/a/b.py"), "C:\\a\\b.py"),
        (Anchor(Kind.PATH, "C:/a/b.py"), "C:\\\\a\\\\b.py"),
        (Anchor(Kind.ID, "9FCEB02D"), "9fceb02d"),
        (Anchor(Kind.NUMBER, "1234.5"), "1,234.50"),
        (Anchor(Kind.NUMBER, "$1733"), "$1,733.00"),
        (Anchor(Kind.NUMBER, "12MB"), "12 MB"),
        (Anchor(Kind.LINE, 'print("x")'), 'print(\\"x\\")'),
    ],
)
def test_spellings(anchor, spelling):
    """An anchor may stand in a view in other spellings than its own, which comes first."""
    assert spellings(anchor)[0] == anchor.text
    assert spelling in spellings(anchor)


@pytest.mark.parametrize(
    "anchor", [Anchor(Kind.ID, "SHOP-1733"), Anchor(Kind.QUOTED, "a b"), Anchor(Kind.NUMBER, "odd")]
)
def test_one_spelling(anchor):
    """Where case or form matters, or the text is not of its kind, there is only the one spelling."""
    assert spellings(anchor) == [anchor.text]
