"""One HTML page for a run, that works offline: figures drawn by plotly, tables, controls. Extra `selfgc[bench]`."""

from collections.abc import Iterable, Sequence
from html import escape

import plotly.graph_objects as go
from plotly.io import to_html
from plotly.offline import get_plotlyjs

from selfgc.bench.records import Bill, CaseRecord, Category, ControlRecord, Judgement, Record, Status
from selfgc.bench.tally import Pairing, Row, losses_of, pairings_of, rows_of

OURS = "reachability"
_COLOURS = {"ours": "#0072b2", "floor": "#999999", "baseline": "#d55e00", "provider": "#cc79a7", "peer": "#009e73"}
"""Colours that people with any colour vision tell apart."""
_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #ffffff; --line: #d0d0d0; --soft: #f4f4f4 }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --paper: #16181b; --line: #3a3d42; --soft: #1f2226 } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 70rem; padding: 0 1rem }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; margin: 1rem 0 }
.wide { overflow-x: auto }
th, td { padding: 0.2rem 0.6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left }
caption { text-align: left; font-weight: 600; padding: 0.4rem 0 }
tr.ours td { font-weight: 600; background: var(--soft) }
td.text { text-align: left; white-space: normal }
.note { color: color-mix(in srgb, var(--ink) 70%, var(--paper)) }
"""


def page_of(records: Sequence[Record], *, dated: str) -> str:
    """Return the page of a run. `dated` is the day that it shows."""
    cases = [one for one in records if isinstance(one, CaseRecord)]
    judgements = [one for one in records if isinstance(one, Judgement)]
    rows = rows_of(cases, judgements)
    whole = [name for name in dict.fromkeys(row.slice for row in rows) if name.endswith(" cuts")]
    parts = [
        f"<h1>selfgc bench</h1><p>{escape(_told(cases, judgements, dated))}</p>",
        *(_plane(name, [row for row in rows if row.slice == name]) for name in whole),
        *(_rows(name, [row for row in rows if row.slice == name]) for name in dict.fromkeys(row.slice for row in rows)),
        *_pairings(pairings_of(cases, judgements, OURS)),
        _losses(judgements),
        *_bills([one for one in records if isinstance(one, Bill)]),
        _controls([one for one in records if isinstance(one, ControlRecord)]),
    ]
    body = "\n".join(part for part in parts if part)
    head = f"<meta charset='utf-8'><title>selfgc bench</title><style>{_STYLE}</style><script>{get_plotlyjs()}</script>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{body}</body></html>"


def _told(cases: Sequence[CaseRecord], judgements: Sequence[Judgement], dated: str) -> str:
    vacuous = sum(case.is_vacuous for case in cases)
    sessions = len({(case.set, case.session) for case in cases})
    return (
        f"{dated}. {len(cases):,} cases of {sessions} sessions, {vacuous} of them vacuous (nothing of the prefix was "
        f"needed, so that no method can fail); {len(judgements):,} judgements. S0: everything needed is visible. "
        "S1: visible, or recoverable with at most two restores. Net prune counts pointers and restores."
    )


def _plane(name: str, rows: Sequence[Row]) -> str:
    figure = go.Figure()
    for arm in dict.fromkeys(row.arm for row in rows):
        points = sorted((row for row in rows if row.arm == arm), key=lambda row: row.net)
        for level, dash in (("s0", "solid"), ("s1", "dot")):
            shares = [getattr(row, level) for row in points]
            figure.add_trace(
                go.Scatter(
                    x=[row.net for row in points],
                    y=[share.value for share in shares],
                    error_y={
                        "type": "data",
                        "array": [share.high - share.value for share in shares],
                        "arrayminus": [share.value - share.low for share in shares],
                        "thickness": 1,
                        "width": 2,
                    },
                    mode="lines+markers",
                    name=f"{arm}, {level.upper()}",
                    legendgroup=arm,
                    visible=True if level == "s0" else "legendonly",
                    line={"dash": dash, "width": 3 if arm == OURS else 1.5, "color": _COLOURS.get(_family(arm))},
                    marker={"size": 10 if arm == OURS else 7},
                    hovertext=[f"{arm} at {'default' if row.rate is None else row.rate}" for row in points],
                )
            )
    return _figure(figure, f"{name}: share of cases without impact, against net prune", "net prune", "share of cases")


def _family(arm: str) -> str:
    if arm == OURS:
        return "ours"
    if arm in {"oldest-turn", "tool-prune", "tool-mask-prune", "hybrid"}:
        return "baseline"
    if arm in {"anthropic-clear", "opencode-prune"}:
        return "provider"
    return "peer" if arm in {"langchain-context-editing", "headroom", "tracegc"} else "floor"


def _figure(figure: go.Figure, title: str, across: str, up: str) -> str:
    figure.update_layout(
        title=title,
        xaxis_title=across,
        yaxis_title=up,
        height=520,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": "#808080"},
    )
    figure.update_xaxes(gridcolor="rgba(128,128,128,0.25)", zeroline=False)
    figure.update_yaxes(gridcolor="rgba(128,128,128,0.25)", zeroline=False)
    drawn: str = to_html(figure, full_html=False, include_plotlyjs=False)
    return f"<figure>{drawn}</figure>"


def _rows(name: str, rows: Sequence[Row]) -> str:
    heads: tuple[str, ...] = ("arm", "rate", "prune", "net", "S0", "95 %", "S1", "95 %", "S2", "kept", "restores")
    heads = (*heads, "S0 if needed")
    heads = (*heads, "S0, A", "S0, B", "S0 face", "survival", "contracts", "s a case", "faults")
    cells = [
        (
            row.arm,
            "default" if row.rate is None else f"{row.rate:.2f}",
            *(f"{value:.3f}" for value in (row.prune, row.net, row.s0.value)),
            f"{row.s0.low:.2f}-{row.s0.high:.2f}",
            f"{row.s1.value:.3f}",
            f"{row.s1.low:.2f}-{row.s1.high:.2f}",
            *(f"{value:.3f}" for value in (row.s2, row.kept, row.restores, row.s0_needed, row.s0_a, row.s0_b)),
            *(f"{value:.3f}" for value in (row.s0_face, row.survival, row.contracts)),
            f"{row.seconds:.2f}",
            str(row.faults),
        )
        for row in rows
    ]
    return _table(f"{name}: {rows[0].cases} cases, {rows[0].vacuous} vacuous", heads, cells)


def _pairings(pairings: Sequence[Pairing]) -> Iterable[str]:
    heads = ("arm", "rate", "net", "ours at", "net", "theirs", "ours", "only theirs", "only ours", "p, Holm")
    for key in dict.fromkeys((one.slice, one.level) for one in pairings):
        cells = [
            (
                one.other,
                "default" if one.other_rate is None else f"{one.other_rate:.2f}",
                f"{one.other_net:.3f}",
                "default" if one.ours_rate is None else f"{one.ours_rate:.2f}",
                *(f"{value:.3f}" for value in (one.ours_net, one.theirs, one.ours)),
                str(one.theirs_only),
                str(one.ours_only),
                f"{one.p_holm:.2g}",
            )
            for one in pairings
            if (one.slice, one.level) == key
        ]
        yield _table(
            f"{key[0]}, {key[1].upper()}: ours against each arm, at the same net prune or a higher one", heads, cells
        )


def _losses(judgements: Sequence[Judgement]) -> str:
    found = losses_of(judgements)
    figure = go.Figure()
    points = [point for point in found if point[1] is None]
    for category in Category:
        figure.add_trace(
            go.Bar(
                x=[arm for arm, _ in points],
                y=[sum(n for (kind, _), n in found[point].items() if kind is category) for point in points],
                name=category.value,
            )
        )
    figure.update_layout(barmode="stack")
    gone = (Status.LOST, Status.UNROUTABLE)
    cells = [
        (
            arm,
            *(str(sum(found[arm, rate].get((kind, status), 0) for status in Status)) for kind in Category),
            str(sum(n for (_, status), n in found[arm, rate].items() if status in gone)),
        )
        for arm, rate in points
    ]
    heads = ("arm", *(kind.value for kind in Category), "of these, gone for good")
    drawn = _figure(figure, "Needed uses out of view, at each arm's default, by category", "arm", "needed uses")
    return drawn + _table("Needed uses out of view, by category", heads, cells) if points else ""


def _bills(bills: Sequence[Bill]) -> Iterable[str]:
    heads = ("policy", "input money", "against none", "worst session", "read share", "breaks", "commits")
    for key in dict.fromkeys((bill.sheet, bill.lifetime) for bill in bills):
        held = [bill for bill in bills if (bill.sheet, bill.lifetime) == key]
        none = {(bill.set, bill.session): bill.money_input for bill in held if bill.policy == "none"}
        cells = []
        for policy in dict.fromkeys(bill.policy for bill in held):
            own = [bill for bill in held if bill.policy == policy and (bill.set, bill.session) in none]
            total, before = sum(bill.money_input for bill in own), sum(none[bill.set, bill.session] for bill in own)
            worst = max((bill.money_input / max(1e-12, none[bill.set, bill.session]) for bill in own), default=1.0)
            sent = sum(bill.read + bill.written + bill.uncached for bill in own)
            cells.append(
                (
                    policy,
                    f"${total:,.2f}",
                    f"{total / before - 1:+.1%}" if before else "",
                    f"{worst - 1:+.1%}",
                    f"{sum(bill.read for bill in own) / max(1, sent):.1%}",
                    str(sum(bill.breaks for bill in own)),
                    str(sum(bill.commits for bill in own)),
                )
            )
        yield _table(f"Billed input: {key[0]} {key[1]}".rstrip(), heads, cells)


def _controls(controls: Sequence[ControlRecord]) -> str:
    cells = [(one.name, one.expected, one.found, "yes" if one.holds else "NO") for one in controls]
    return _table("Controls of the judge", ("control", "expected", "found", "holds"), cells) if cells else ""


def _table(title: str, heads: Sequence[str], cells: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(
        f"<tr{' class=ours' if row[0] == OURS else ''}>"
        + "".join(f"<td{' class=text' if len(cell) > _LONG else ''}>{escape(cell)}</td>" for cell in row)
        + "</tr>"
        for row in cells
    )
    return f"<div class='wide'><table><caption>{escape(title)}</caption><tr>{head}</tr>{body}</table></div>"


_LONG = 32
"""Characters from which on a cell is text and may be broken."""
