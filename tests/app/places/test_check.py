"""Check a claim: what it says at once, its report and files, its address, its refusals."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.scriptrunner_utils.exceptions import StopException
from streamlit.testing.v1 import AppTest

from dpsco_app.figure.colours import TONES
from dpsco_app.pages.check import page as page_module
from dpsco_app.pages.check import report as drawing
from dpsco_app.pages.check import running, words
from dpsco_app.pages.check.page import command
from dpsco_app.pages.check.running import Task, check, kept_reports
from dpsco_app.pages.check.state import EXAMPLE, SECONDS, STATE, Claim, View, claim_of, with_method
from dpsco_app.runs.turns import TURNS
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import METHODS, methods_for
from dpsco_core.cli import referee as cli
from dpsco_core.cli.main import _build_parser
from dpsco_core.referee.page import html_page
from dpsco_core.referee.places import base_place
from dpsco_core.referee.report import Check, Report
from dpsco_core.referee.run import referee
from dpsco_core.scenario import Scenario
from tests.app.pages import check_page, drawn_html, headline_text, line_below, press_button
from tests.app.places.test_one_run import open_at
from tests.golden_sentences import GOLDEN

MEAN = Scenario(n=1000, d=5, methods=("mean.clipped",))
SMALL = {"n": "1000", "d": "5", "methods": "mean.clipped"}


@pytest.fixture(autouse=True)
def _no_kept_reports() -> Iterator[None]:
    """Forget all reports that are kept, before and after each test."""
    kept_reports().clear()
    yield
    kept_reports().clear()


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the page give every check no time to search, so that only its smallest part runs."""
    monkeypatch.setattr(running, "referee", _referee_without_time)


def _referee_without_time(*submitted: Any, **settings: Any) -> tuple[Report, ...]:
    """Check the limits that the page sets, and run the referee with no time to search."""
    assert settings["limits"] is DASHBOARD and settings["seconds"] == SECONDS[0]
    return referee(*submitted, **(settings | {"seconds": 0.0}))


def open_check(**query: str) -> AppTest:
    """Return the page that checks a claim, at small sizes."""
    return open_at("check", **(SMALL | query))


def claim(**view: Any) -> Claim:
    """Return the claim about a method that a view describes."""
    return claim_of(with_method(View(**view), MEAN), MEAN)


def test_the_page_opens_with_known_bounds_on_the_claim_and_runs_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "referee", None)
    page = open_check()
    assert headline_text(page).startswith("At your scenario the claim is ")
    assert "times the best upper bound and" in headline_text(page)
    assert line_below(page).endswith("Press Check to try it at many settings.")
    assert [b.label for b in page.button if b.key.startswith("check")] == ["Check"]
    page = open_check(claim="d/n")
    assert headline_text(page) == GOLDEN["a claim below a lower bound"]
    page = open_check(claim="d/n", rate="yes")
    assert headline_text(page).startswith("The hidden constant must be at least ")
    page = open_check(hypotheses="n >= 1000*d")
    assert headline_text(page) == GOLDEN["a claim that says nothing"]
    assert "fails: 1000 and 5000" in line_below(page)


@pytest.mark.parametrize(
    ("formula", "text"),
    [("log(-n)", "undefined"), ("1-n", "-999"), ("exp(n^n)", "∞")],
    ids=str,
)
def test_a_formula_without_a_valid_error_at_the_scenario_is_reported(
    formula: str, text: str
) -> None:
    answer = words.at_a_glance(claim(claim=formula))
    assert answer == (GOLDEN["a claim that is no error"], f"The formula is {text} there.")


def test_a_claim_that_is_nearly_0_is_refuted_at_the_scenario() -> None:
    for formula in ("0", "10^(-320)", "10^(-310)"):
        answer, _ = words.at_a_glance(claim(claim=formula))
        assert answer == GOLDEN["a claim below a lower bound"]


def test_the_report_has_the_verdict_first_and_then_every_check(no_time: None) -> None:
    page = press_button(open_check(claim="d/n"), "Check")
    assert headline_text(page) == GOLDEN["a claim refuted without a run"]
    assert "below the lower bound" in line_below(page)
    drawn = drawn_html(page)
    names = ("Hypotheses", "Against lower bounds", "Measured over claimed", "Slopes")
    places = [drawn.index(f"<h3>{name}: ") for name in (*names, "Optimality", "Privacy")]
    assert places == sorted(places)
    assert drawn.count("below the lower bound") == 1  # The sentence stands only in the answer.
    assert any(code.value.startswith("dpsco bounds ") for code in page.code)
    assert [b.label for b in page.button if b.key.startswith("check")] == ["Check again"]
    assert not page.get("progress")
    page = check_page(page.run())
    # The report is kept from the first check.
    assert headline_text(page).startswith("Refuted without a run")


def test_the_files_of_a_report_are_that_report(
    no_time: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: dict[str, Any] = {}
    monkeypatch.setattr(
        drawing, "download", lambda label, make, file, **more: saved.update({file: make})
    )
    press_button(open_check(claim="d/n"), "Check")
    (reports,) = kept_reports().values()
    assert [r.title for r in reports] == ["Claim on Simple clipping", "Privacy of Simple clipping"]
    assert saved["dpsco-claim.html"]() == html_page(reports)
    assert json.loads(saved["dpsco-claim.json"]())["reports"][0]["verdict"] == "refuted"
    assert saved["dpsco-claim.pdf"]().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"claim": "foo/n"}, "formula must be made of"),
        ({"claim": "1/("}, "formula must be complete after its last sign"),
        ({"claim": ""}, "formula must be complete"),
        ({"hypotheses": "n"}, "if must be two formulas"),
    ],
    ids=str,
)
def test_an_unreadable_claim_gives_one_error(query: dict[str, str], sentence: str) -> None:
    page = open_check(**query)
    assert headline_text(page) == GOLDEN["a claim that cannot be read"] and line_below(
        page
    ).startswith(sentence)
    assert not [b for b in page.button if b.key.startswith("check")]
    page = check_page(page.text_input(key=STATE.key("claim")).set_value("d/n").run())
    page = check_page(page.text_input(key=STATE.key("hypotheses")).set_value("").run())
    assert headline_text(page).startswith("Refuted at your scenario")


def test_the_address_holds_the_claim_and_its_scenario() -> None:
    page = open_check()
    page.text_input(key=STATE.key("claim")).set_value("d/n")
    page.text_input(key=STATE.key("hypotheses")).set_value("n >= 2*d; p > 2")
    page.toggle(key=STATE.key("rate")).set_value(True)
    page = check_page(page.selectbox(key=STATE.key("method")).set_value("mean.cwme-cdp").run())
    query = {k: v[0] if isinstance(v, list) else v for k, v in page.query_params.items()}
    wanted = {"claim": "d/n", "hypotheses": "n >= 2*d; p > 2", "rate": "yes", "d": "5"}
    assert wanted.items() <= query.items() and query["method"] == "mean.cwme-cdp"
    again = open_at("check", **query)
    assert again.text_input(key=STATE.key("claim")).value == "d/n"
    assert headline_text(again) == headline_text(page)


def test_a_method_of_another_problem_gives_way_to_one_of_the_scenario() -> None:
    page = open_check(problem="quadratic", method="mean.clipped", methods="sco.erm,sco.clipped")
    assert page.selectbox(key=STATE.key("method")).value == "sco.clipped"
    assert page.selectbox(key=STATE.key("method")).options[0] != "Simple clipping"
    assert with_method(View(method="mean.plan"), MEAN).method == "mean.plan"
    assert with_method(View(), Scenario(problem="quadratic")).method in methods_for("quadratic")


def test_a_claim_whose_runs_are_too_long_is_refused_before_they_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_module, "predicted_seconds", lambda _: 1e4)
    page = open_check()
    (button,) = [b for b in page.button if b.key == "check_start"]
    assert button.disabled and "at least 10,000 s" in page.info[0].value


def test_a_click_stops_the_referee_and_gives_its_turn_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit ends a run of a page by an exception, at any call of its functions."""
    asked = iter(range(50))

    def ask() -> None:
        """Stop the script at the thirtieth question whether to go on."""
        if next(asked) == 30:
            raise StopException

    monkeypatch.setattr(running, "stopper", lambda: ask)
    place = SimpleNamespace(empty=lambda: SimpleNamespace(progress=lambda *_: None))
    with pytest.raises(StopException):
        check(Task(claim=claim(), seconds=5), place)  # type: ignore[arg-type]
    assert not kept_reports() and not TURNS._queue


def test_the_referee_yields_its_turn_to_waiting_runs() -> None:
    events: list[str] = []
    waits = iter([True, False, False, True])
    turn = SimpleNamespace(
        is_over=lambda: True,
        hand_on=lambda: events.append("hand on"),
        wait_for_slice=lambda: events.append("ask") or next(waits),
    )
    bar = SimpleNamespace(progress=lambda share, text: events.append(text))
    step = running._stepper(Task(claim=claim(), seconds=20), turn, bar)  # type: ignore[arg-type]
    step("scan: setting 1 of 9")
    step("")
    progress = "0 of 20 s: scan: setting 1 of 9"
    assert events == ["ask", "hand on", "ask", progress, "ask", progress, "ask"]


def test_the_printed_command_checks_the_same_claim() -> None:
    asked = claim(claim="d/n^(1/2)", hypotheses="n >= 2*d; p > 1", rate=True)
    text = command(Task(claim=asked, seconds=20))
    chosen = _build_parser(["referee"]).parse_args(shlex.split(text)[1:])
    fields = cli.given_fields(chosen)
    submission, start = cli._read_submission(chosen, fields.pop("methods"), fields)
    assert base_place("mean.clipped", start) == asked.base
    assert submission.bounds[0].card == asked.bound.card
    assert [h.text for h in submission.bounds[0].hypotheses[1:]] == ["n >= 2*d", "p > 1"]
    assert submission.methods == ("mean.clipped",) and chosen.seconds == "20"


def test_a_claim_about_any_method_can_be_made_at_a_scenario_of_its_problem() -> None:
    for method in (family.card for family in METHODS):
        base = base_place(method.slug, Scenario(n=1000, d=4, m=4 if method.level == "user" else 1))
        answered = claim_of(View(method=method.slug, claim=EXAMPLE), base)
        answer, small = words.at_a_glance(answered)
        assert answer and small and method.slug not in answer + small


def test_a_report_without_objections_is_never_called_a_proof() -> None:
    for verdict, answer in words.HEADLINES.items():
        check_here = Check(name="Slopes", verdict=verdict, sentence="At n=1000 it is so.")
        answered = words.headline(report_of(check_here), None)
        assert answered == (answer, GOLDEN["slopes at a point"])
        assert not {"true", "correct", "proven", "holds"} & set(answer.split())
    broken = report_of(Check(name="Privacy", verdict="refuted", sentence="It moves."))
    fine = report_of(Check(name="Slopes", verdict="not refuted", sentence="So."))
    assert words.headline(fine, broken) == ("Its privacy is refuted", "It moves.")


def report_of(check_here: Check) -> Report:
    """Return the report of a claim with a single check."""
    return Report(
        title="claim", claim="d/n", hypotheses=(), checks=(check_here,), seed=0, seconds=5
    )


def test_a_section_escapes_the_markup_in_a_check() -> None:
    check_here = Check(
        name="Slopes",
        verdict="too few trials",
        sentence="a < b",
        columns=("axis", "fit"),
        rows=(("<b>", 0.123456),),
    )
    drawn = drawing.section(check_here, dark=False)
    assert "a &lt; b" in drawn and "<td>&lt;b&gt;</td><td>0.1235</td>" in drawn
    assert "too few trials" in drawn and TONES["warn"][False] in drawn
    without = partial(drawing.section, check_here, has_sentence=False)
    assert "a &lt; b" not in without(dark=True)
    bare = Check(name="Slopes", verdict="not checked", sentence="No run.")
    assert "<table" not in drawing.section(bare, dark=False)


def test_a_view_is_refused_where_a_text_is_too_long_or_a_time_is_not_offered() -> None:
    with pytest.raises(InvalidInput, match="^claim must be at most 300 characters long"):
        View(claim="n" * 301).validate()
    with pytest.raises(InvalidInput, match="^seconds must be one of 5, 20, 60, got seconds=7"):
        View(seconds=7).validate()
