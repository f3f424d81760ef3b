"""Privacy: its figures hold the numbers of the core, its address restores it, audits run here."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from dpsco_app.figure.colours import IMPOSSIBLE, METHODS
from dpsco_app.figure.values import Figure, Line
from dpsco_app.front import links
from dpsco_app.pages.first_screen import numbers_of
from dpsco_app.pages.privacy import words
from dpsco_app.pages.privacy.attack import attack_figure, title_attack
from dpsco_app.pages.privacy.figures import (
    LOOKS,
    audit_figure,
    compared_figure,
    samples_figure,
    shares_figure,
)
from dpsco_app.pages.privacy.state import (
    PARTS,
    PRIVATE_SLUGS,
    STATE,
    View,
    attack_on,
    faults_of,
    ledger_run,
    privacy_query,
    private_methods,
)
from dpsco_app.pages.privacy.words import (
    CONVERSION_NAMES,
    FAULT_NAMES,
    QUESTIONS,
    ROUTE_NAMES,
    said_audit,
    said_ledger,
    title_audit,
    title_ledger,
)
from dpsco_app.pages.users import words as users
from dpsco_app.parts.controls import PREFIX
from dpsco_core.audit.attacks import judge
from dpsco_core.audit.engine import FAULTS, Audit, audit_steps, run_audit
from dpsco_core.audit.samples import samples
from dpsco_core.base.errors import NotApplicable
from dpsco_core.catalogue import METHODS as CATALOGUE
from dpsco_core.catalogue import method_card
from dpsco_core.explain.budgets import Point, conversions, epsilon_curves, shuffling
from dpsco_core.explain.recipe.ledgers import account
from dpsco_core.privacy.budget import gaussian_epsilon
from dpsco_core.scenario import Scenario
from tests.app import pages
from tests.app.pages import headline_text, line_below, press_button
from tests.app.places.test_one_run import open_at

RUN = Scenario(problem="logistic", methods=("sco.clipped",), n=5000, d=10, p=2.0)


def open_privacy(**query: str) -> Any:
    """Return the page of privacy, on its calculator unless the query names another part."""
    return open_at("privacy", **({"part": "convert"} | query))


def texts(page: Any) -> str:
    """Return the headline, the line below it and all other text of a page."""
    return f"{headline_text(page)}\n{line_below(page)}\n{pages.written_text(page)}"


def alternative_texts(page: Any) -> list[str]:
    """Return the alternative texts of all charts of a page."""
    return [chart.proto.alt for chart in page.get("plotly_chart")]


def line(figure: Figure, key: str) -> Line:
    """Return the only line of a figure's first panel that has a key."""
    (curve,) = [one for one in figure.panels[0].lines if one.key == key]
    return curve


@pytest.mark.parametrize(
    ("point", "answer", "more"),
    [
        # The expected noise of 4.225 is half of noise_for(1, 1e-6) = 8.449; the other rows state
        # zCDP of 0.5 by the exact curve, and tanh(1/2).
        (Point(kind="approx", epsilon=1.0), "takes Gaussian noise of 4.22 times", "8.449 where"),
        (
            Point(kind="zcdp", rho=0.5),
            f"costs ε = {gaussian_epsilon(0.5, 1e-6):.3g} at δ = 10⁻⁶",
            "2 where a record is replaced and 1 where",
        ),
        (Point(kind="pure", epsilon=1.0), f"at most ρ = {math.tanh(0.5):.3g}", "Laplace noise"),
    ],
)
def test_the_calculator_answers_first_and_counts_noise_as_libraries_do(
    point: Point, answer: str, more: str
) -> None:
    converted = conversions(point)
    assert answer in words.title_conversions(point, converted)
    assert more in words.said_noise(point, converted)


def test_the_figure_of_conversions_has_their_values() -> None:
    curves, converted = epsilon_curves(1e-6), conversions(Point(kind="approx"))
    points = {CONVERSION_NAMES[c.name]: (c.rho, c.epsilon) for c in converted}
    lines = {name: (curves.rho, getattr(curves, key)) for key, name in CONVERSION_NAMES.items()}
    figure = compared_figure(lines, points, ("ρ", "ε"), "", column="ρ", shows_x=True)
    for key, name in CONVERSION_NAMES.items():
        assert line(figure, name).y == pytest.approx(getattr(curves, key))
        mark = line(figure, f"{name} here")
        assert [(mark.x[0], mark.y[0])] == [points[name]] and mark.symbol
    assert [row.values for row in figure.ladder.rows] == [[f"{c.rho:.3g}"] for c in converted]
    table = numbers_of(figure)
    assert list(table.columns) == ["ρ", *CONVERSION_NAMES.values()]
    assert table["ρ"].tolist() == pytest.approx(curves.rho.tolist())


def test_an_invalid_conversion_is_not_drawn() -> None:
    rows = [(n, shuffling(n, 1.0, 1e-6)) for n in (10, 1000)]
    lines = {
        name: ([float(n) for n, _ in rows], [routes[i].noise_multiplier for _, routes in rows])
        for i, name in enumerate(ROUTE_NAMES.values())
    }
    points = {name: (10.0, values[0]) for name, (_, values) in lines.items()}
    figure = compared_figure(lines, points, ("n", "noise"), "")
    closed = line(figure, ROUTE_NAMES["closed"])
    assert math.isnan(closed.y[0])
    assert closed.y[1] == pytest.approx(rows[1][1][2].noise_multiplier)
    assert f"{closed.key} here" not in [one.key for one in figure.panels[0].lines]


def test_no_argument_has_the_colour_of_a_part_of_the_error() -> None:
    assert {hue for hue, _ in LOOKS} < set(METHODS) and len({dash for _, dash in LOOKS}) == 5


@pytest.mark.parametrize("fault", FAULTS[:3])
def test_an_audit_is_drawn_with_its_claim(fault: Any) -> None:
    task = Audit(point=View().audit().point, runs=5000, fault=fault)
    *_, findings = run_audit(task)
    judged = judge(findings, task.confidence)
    figure = audit_figure(task, findings, title_audit(judged))
    assert list(line(figure, "proven").y) == pytest.approx(findings.best_so_far)
    looks = [e.epsilon_lower_bound for e in findings.evidence]
    assert findings.best_so_far == [max(looks[: i + 1]) for i in range(len(looks))]
    (region,) = figure.panels[0].regions
    assert set(region.lower) == {findings.claimed_epsilon} and region.look == IMPOSSIBLE
    caught = findings.caught_at is not None
    assert caught == (fault != "none") == ("Caught" in title_audit(judged))
    sentence = said_audit(task, judged)
    assert "5,000 runs at δ = 0.05; confidence 99.9 %" in sentence
    assert (FAULT_NAMES[fault].lower() in sentence) == (fault != "none")
    drawn_samples = samples(findings)
    outline_line = line(samples_figure(drawn_samples, ""), "on the other")
    assert list(outline_line.y)[1:-2:2] == drawn_samples.neighbour_counts.tolist()


def test_an_audit_that_only_the_trade_off_curve_refutes_says_so() -> None:
    point = replace(View().audit().point, delta=1e-6)
    task = Audit(point=point, fault="half-noise", looks=False)
    *_, findings = run_audit(task)
    judged = judge(findings, task.confidence)
    assert findings.bound_verdict == "not refuted"
    assert title_audit(judged).startswith("Caught by the trade-off curve of its ledger; ")
    assert title_audit(judged).endswith("alone does not refute 1")
    assert f"Refuted {judged.grounds}." in said_audit(task, judged)


def test_the_ledger_is_drawn_as_shares() -> None:
    books = account(ledger_run(RUN, "sco.objective-perturbation"))
    figure = shares_figure(books.spendings, "sco.objective-perturbation", "")
    threads, bars = figure.panels[0].lines[::2], figure.panels[0].lines[1::2]
    ends = [bar.x[1] for bar in bars]
    # A leader line connects the end of each bar with its name.
    assert [line.x for line in threads] == [[end, 100.0] for end in ends]
    assert ends == pytest.approx([100 * row.share for row in books.spendings])
    assert "99 %" in title_ledger(books) and "2 releases" in said_ledger(books)


def test_equal_steps_are_counted_in_one_row() -> None:
    books = account(ledger_run(RUN, "sco.clipped"))
    figure = shares_figure(books.spendings, "sco.clipped", "")
    assert figure.ladder.rows[0].name.endswith(f", {len(books.entries)} releases")
    assert figure.ladder.rows[0].values == ["100 %"]


def test_the_first_figure_is_the_calculator() -> None:
    page = open_privacy()
    assert not page.warning and len(page.get("plotly_chart")) == 1
    assert alternative_texts(page) == [headline_text(page)]
    assert "takes Gaussian noise of 4.22 times the sensitivity" in headline_text(page)
    assert "4.225" in line_below(page)
    assert set(QUESTIONS) == set(PARTS)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"part": "compose", "rho": "0.001"}, "100 releases together cost ε = 1.99;"),
        ({"part": "compose"}, "ε = 13.5; adding their ε at δ/100 each would give 122"),
        ({"part": "compose", "delta": "0", "releases": "10"}, "10 releases together cost ε = 10;"),
        ({"part": "shuffle"}, "3.2 times less noise"),
        ({"part": "shuffle", "records": "10"}, "too few: shuffling them saves no noise"),
        ({"part": "subsample"}, "(0.01704, 10⁻⁸)-DP"),
        ({"part": "subsample"}, "100 batches cost at most 0.105"),
        ({"part": "subsample"}, "100 Gaussian releases on a batch each are (0.105, 10⁻⁶)-DP"),
        ({"part": "subsample"}, "on all records 100 Gaussian releases cost ε = 13.51"),
        ({"part": "subsample", "batch": "100", "records": "10"}, "batch must be at most"),
        ({"part": "convert"}, "one release on all records: 21 % less than by the papers'"),
        ({"part": "convert", "rho": "0.5"}, "Gaussian noise of ρ = 0.5 costs ε = 4.89"),
        ({"part": "convert", "delta": "0"}, "Gaussian noise cannot give pure DP"),
        ({"part": "ledger"}, "all of the budget"),
        ({"part": "ledger", "delta": "0"}, "all of the budget"),
        ({"part": "ledger", "delta": "0", "methods": "mean.clipped"}, "Nearest:"),
        (
            {"part": "ledger", "problem": "logistic", "methods": "lp.noisy-mirror-descent"}
            | {"geometry": "lq", "q": "1.5", "n": "500"},
            "releases",
        ),
        (
            {"part": "ledger", "problem": "quadratic", "methods": "user.phased-sgd", "m": "10"},
            "all of the budget",
        ),
        ({"part": "audit", "runs": "2000"}, "is not refuted"),
        ({"part": "audit", "runs": "2000", "fault": "no-clipping"}, "Caught after 200 runs"),
        (
            {"part": "audit", "audited": "user.accelerated"},
            "Nearest: choose Clipped user gradients",
        ),
        ({"part": "audit", "audited": "mean.cwme-pure", "runs": "2000"}, "at δ = 0"),
        ({"part": "attack", "runs": "2000"}, "misses at least 98.2 % of the true cases"),
        ({"part": "attack", "runs": "2000"}, "four readings of one curve"),
        ({"part": "attack", "fault": "half-noise"}, "false alarms the attack misses at most"),
        ({"part": "attack", "delta": "0"}, "Nearest: choose Coordinate-wise, Laplace"),
        (
            {"part": "attack", "delta": "0", "audited": "mean.cwme-pure", "runs": "2000"},
            "no single μ or ρ describes it",
        ),
    ],
)
def test_every_tool_states_its_result(query: dict[str, str], expected: str) -> None:
    page = open_privacy(**query)
    assert expected in texts(page)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"part": "convert", "rho": "0.5"}, ["5.76", "5.22", "4.89"]),
        ({"part": "compose", "rho": "0.001"}, ["21.2", "17.1", "2.14", "1.99"]),
        ({"part": "compose", "delta": "0", "releases": "10"}, ["33.8", "10", "19.6", "10"]),
        ({"part": "shuffle"}, ["18.5", "4.22", "1.89", "1.41", "1.32"]),
        ({"part": "shuffle", "records": "10"}, ["none", "4.22", "none", "5.08", "4.22"]),
        ({"part": "subsample"}, ["0.105", "0.0172", "0.017"]),
    ],
)
def test_the_ladder_has_the_epsilon_that_each_argument_proves(
    query: dict[str, str], expected: list[str]
) -> None:
    values = [row[0] for row in pages.ladder_numbers(open_privacy(**query)).values()]
    assert values == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ("73.11 %", "far from certain", "δ = 10⁻⁶", "**0.4752**")),
        ({"epsilon": "0.1"}, ("52.5 %", "hardly better than tossing a coin")),
        ({"epsilon": "10", "delta": "0"}, ("99.996 %", "hides little", "**10**", "**5**")),
        ({"part": "ledger"}, ("73.11 %", "mean of clipped records")),
    ],
)
def test_a_budget_is_stated_as_odds_for_both_kinds_of_neighbours(
    query: dict[str, str], expected: tuple[str, ...]
) -> None:
    page = open_privacy(**query)
    page_text = texts(page) + "".join(str(f.value.to_dict("list")) for f in page.dataframe)
    for part in expected:
        assert part in page_text
    assert ("the probability of revealing more" in texts(page)) == (query.get("delta") != "0")


def test_powers_of_e_are_written_with_exponents() -> None:
    written = [
        *words.PART_TEXTS.values(),
        words.WHY_DELTA,
        words.HOW_TO_READ,
        *users.LOOK_AT.values(),
    ]
    assert sum(text.count(r"$e^\varepsilon$") for text in written) == 4
    assert not any("e^ε" in text for text in written)


def test_the_audit_of_the_page_is_that_of_its_command() -> None:
    from dpsco_core.cli.main import main

    page = open_privacy(part="audit", fault="printed-constant", audited="mean.smoothed", at="0.1")
    (code,) = [c.value for c in page.code if c.value.startswith("dpsco audit")]
    assert "--rho" in code and "--at-delta 0.1" in code
    task = replace(View(part="audit", at=0.1), fault="printed-constant", audited="mean.smoothed")
    *_, findings = run_audit(task.audit())
    assert said_audit(task.audit(), judge(findings, 0.999)) in texts(page)
    assert "1.78 times less private" in texts(page)
    assert gaussian_epsilon(task.audit().point.rho or 0, 0.1) == pytest.approx(1.0)
    assert main(code.split()[1:]) == 0


def test_a_long_audit_waits_for_its_button(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpsco_app.pages.privacy import audit

    monkeypatch.setattr(audit, "_predicted_seconds", lambda task: 4.0)
    query = {"part": "audit", "audited": "sco.phased-sgd", "runs": "200", "seed": "11"}
    page = open_privacy(**query)
    assert not page.get("plotly_chart")
    page = press_button(page, "Run the audit (about 4 s)")
    assert len(page.get("plotly_chart")) == 2 and "Phased SGD" in texts(page)
    assert not [b for b in page.button if b.label.startswith("Run the audit")]


def test_an_audit_that_takes_minutes_offers_fewer_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpsco_app.pages.privacy import audit

    monkeypatch.setattr(audit, "_predicted_seconds", lambda task: 0.1 * task.runs)
    page = open_privacy(part="audit", audited="lp.regularized-mirror-descent")
    assert "Nearest: 1,000 runs." in texts(page)
    page = press_button(page, "Take 1,000 runs")
    assert page.query_params["runs"] == "1000"


def test_a_link_restores_the_whole_page() -> None:
    query = {
        "part": "audit",
        "releases": "50",
        "records": "1000",
        "batch": "10",
        "method": "mean.clipped",
        "audited": "mean.cwme-cdp",
        "claim": "2",
        "at": "0.1",
        "fault": "half-noise",
        "runs": "500",
        "read_at": "1e-08",
    }
    assert set(query) == set(STATE.names)
    view, problems = STATE.from_query(query)
    assert not problems and STATE.to_query(view) == query
    page = open_privacy(**query)
    assert not page.warning
    assert dict(page.query_params.items()) == query


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("part", "other"),
        ("read_at", "2"),
        ("releases", "0"),
        ("records", "1.5"),
        ("batch", "-1"),
        ("method", "mean.sample"),
        ("audited", "sco.sgd"),
        ("claim", "1000"),
        ("at", "0"),
        ("fault", "twice"),
        ("runs", "201"),
    ],
)
def test_an_invalid_address_field_is_reported_and_ignored(name: str, text: str) -> None:
    view, problems = STATE.from_query({name: text})
    assert view == View()
    assert len(problems) == 1 and problems[0].startswith(name) and problems[0].endswith(".")


def test_explore_links_to_the_ledger_of_its_run() -> None:
    scenario = Scenario(problem="logistic", methods=("sco.clipped",), n=1000, d=5, rho=0.1)
    query = privacy_query(replace(scenario, epsilon=None, delta=None), "sco.clipped")
    page = open_at("privacy", **query)
    assert "0.1-zCDP" in texts(page)


def test_the_ledger_is_that_of_the_scenario_s_own_run() -> None:
    """The clip radius follows from p, the diameter and the set, so all three reach the ledger."""
    query = {"methods": "mean.sample,mean.clipped,mean.cwme-cdp", "p": "4", "diameter": "20"}
    # These are the settings with which the page opens.
    page = open_at("privacy", method="mean.clipped", **query)
    run = ledger_run(links.read(query)[0], "mean.clipped")
    assert said_ledger(account(run)) in texts(page)
    other_run = ledger_run(links.read(query | {"p": "2", "diameter": "4"})[0], "mean.clipped")
    assert account(run).spendings != account(other_run).spendings
    assert list(page.selectbox(key=STATE.key("method")).options) == [
        method_card(m).name for m in ("mean.clipped", "mean.cwme-cdp")
    ]


def is_refused(view: View) -> bool:
    """Return whether the audit that a view asks for is not applicable."""
    try:
        next(iter(audit_steps(replace(view.audit(), runs=40))))
    except NotApplicable:
        return True
    return False


def test_a_mechanism_is_offered_the_faults_that_it_can_have() -> None:
    for slug in PRIVATE_SLUGS:
        views = {fault: View(audited=slug, fault=fault) for fault in FAULTS}
        if not is_refused(views["none"]):
            able = [fault for fault, view in views.items() if not is_refused(view)]
            assert faults_of(View(audited=slug)) == able, slug


def test_every_private_method_can_be_chosen_and_every_fault_has_a_name() -> None:
    assert set(PRIVATE_SLUGS) == {m.card.slug for m in CATALOGUE if m.card.privacy != "none"}
    assert set(FAULT_NAMES) == set(FAULTS)
    assert "printed-constant" not in faults_of(View(audited="mean.clipped"))
    chosen = View(audited="mean.clipped", fault="printed-constant")
    # A link may ask for this fault, and the page explains why it does not apply.
    assert faults_of(chosen) == list(FAULTS)
    for slug in PRIVATE_SLUGS:
        assert private_methods(replace(RUN, methods=("sco.erm", slug))) == (slug,)
        assert replace(View(), audited=slug).audit().validate().method == slug
        assert method_card(slug).privacy != "none"


@pytest.mark.parametrize("fault", ["none", "half-noise"])
def test_the_measured_attack_and_the_claimed_curve_are_drawn_at_their_values(fault: str) -> None:
    point = Scenario(methods=("mean.clipped",), rho=0.5, epsilon=None, delta=None)
    view = View(part="attack", runs=2000, fault=fault)  # type: ignore[arg-type]
    *_, result = run_audit(attack_on(view, point))
    judged = judge(result, 0.999)
    curve, achieved = judged.curve, judged.attack
    figure = attack_figure(curve, achieved, view.audited, title_attack(judged))
    (panel,) = figure.panels
    (region,) = panel.regions
    assert region.look == IMPOSSIBLE
    exact = norm.cdf(norm.isf(np.array(region.x)) - 1)  # At a rho of 0.5, mu is 1.
    assert region.upper == pytest.approx(exact, abs=1e-9)
    box, mark = (line for line in panel.lines if line.key == "attack")
    assert (max(box.x), max(box.y)) == (achieved.alarm_interval[1], achieved.miss_interval[1])
    assert (min(box.x), min(box.y)) == (achieved.alarm_interval[0], achieved.miss_interval[0])
    assert (*mark.x, *mark.y) == (achieved.alarm_share, achieved.miss_share)
    # The table beside the figure is about the dot.
    assert figure.ladder is not None
    assert f"{100 * achieved.alarm_share:.3g} %" in figure.ladder.title
    row_values = {row.name: row.values[0] for row in figure.ladder.rows}
    claimed = norm.cdf(norm.isf(mark.x[0]) - 1)
    assert row_values["the audit's attack"] == f"{100 * mark.y[0]:.3g} %"
    assert row_values["the claim, at least"] == f"{100 * claimed:.3g} %"
    assert row_values["blind guessing"] == f"{100 * (1 - mark.x[0]):.3g} %"
    corner = norm.cdf(norm.isf(max(box.x)) - 1)
    assert (max(box.y) < corner) == achieved.refutes == (fault == "half-noise")
    assert ("Caught" in figure.alt) == achieved.refutes


@pytest.mark.parametrize(
    ("part", "needed_fields", "unused_fields"),
    [
        ("ledger", {"problem", "n", "d", "epsilon"}, set()),
        ("compose", {"epsilon", "delta"}, {"problem", "p", "n", "d", "geometry", "methods"}),
        ("audit", set(), {"problem", "p", "n", "d", "epsilon", "delta", "methods"}),
    ],
)
def test_a_part_has_the_controls_that_change_what_it_shows(
    part: str, needed_fields: set[str], unused_fields: set[str]
) -> None:
    page = open_privacy(part=part, runs="2000")
    widgets = {w.key for kind in ("selectbox", "select_slider") for w in getattr(page, kind)}
    widgets |= {w.key for w in page.multiselect}
    keys = {key.removeprefix(PREFIX) for key in widgets if key and key.startswith(PREFIX)}
    assert needed_fields <= keys, keys
    assert not unused_fields & keys
