"""Anatomy: its figures hold the numbers of the core, and its words are computed from them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.figure.colours import BIAS, NOISE, SAMPLING
from dpsco_app.front import links
from dpsco_app.pages.one_run.figures import (
    clipping_remark,
    noise_figure,
    parts_figure,
    parts_title,
    path_title,
    percent,
    radius_sentence,
)
from dpsco_app.pages.one_run.state import STATE
from dpsco_app.parts import controls
from dpsco_app.parts.error_parts import PART_COLOURS, PART_NAMES
from dpsco_app.parts.options import short_text
from dpsco_app.parts.touch.picture import picture_data
from dpsco_app.session import computed
from dpsco_core.catalogue import methods_for
from dpsco_core.explain.anatomy import (
    FACTORS,
    PARTS,
    ErrorParts,
    RiskPath,
    clipped_plan,
    gradient_norms,
    share_clipped,
    single_runs,
)
from dpsco_core.explain.methods.cancelling import cancelling
from dpsco_core.problems import SCO_PROBLEMS
from tests.app.pages import (
    BASES,
    annotation_texts,
    check_page,
    headline_text,
    line_below,
    trace_names,
)
from tests.explain.error_parts import error_parts
from tests.golden_sentences import GOLDEN

SMALL = {"n": "500", "d": "3", "trials": "1", "problem": "quadratic"}
BASE = BASES["one_run"]
POINT = replace(BASE, problem="quadratic", n=500, d=3, trials=1)
SCRIPT = """
import streamlit as st
from dpsco_app.shell import teaching
from dpsco_app.shell.main import DRAW
teaching.take()
st.set_page_config(layout="wide")
DRAW["{0}"]()
"""


def open_at(name: str, **query: str) -> AppTest:
    """Run one page by itself at an address."""
    page = AppTest.from_string(SCRIPT.format(name.replace("_", "-")), default_timeout=240)
    base = links.query(BASES[name]) if name in BASES else {}
    for key, value in (base | query).items():
        page.query_params[key] = value
    return check_page(page.run())


def open_anatomy(**query: str) -> AppTest:
    """Return the page of a single run, at small sizes."""
    return open_at("one_run", **(SMALL | query))


def specs(page: AppTest) -> list[dict[str, Any]]:
    """Return the figures for wide windows, in order: path, gradients, parts."""
    return [json.loads(chart.proto.spec) for chart in page.get("plotly_chart")]


def values(trace: dict[str, Any]) -> list[float]:
    """Return the heights of a trace, in whatever form they are stored."""
    y = trace["y"]
    if isinstance(y, dict):
        import base64

        return list(np.frombuffer(base64.b64decode(y["bdata"]), dtype=y["dtype"]).astype(float))
    return list(y)


def trace_named(figure: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the only trace of a Plotly figure that has a name."""
    (trace,) = [t for t in figure["data"] if t.get("name") == name]
    return trace


def radius_text(page: AppTest) -> str:
    """Return the sentence about the clip radius."""
    return page.container(key="one_run_sentence").markdown[0].value


def player(page: AppTest) -> dict[str, Any]:
    """Return the data from which the browser plays the run."""
    components = [c for c in page.get("bidi_component") if "dpsco_touch_run" in str(c.proto)]
    return dict(json.loads(components[0].proto.json)) if components else {}


def test_the_picture_and_the_figure_hold_the_numbers_of_the_core() -> None:
    page = open_anatomy(problem="linear")
    point = replace(POINT, problem="linear")
    picture, (parts,) = player(page), specs(page)
    paths = single_runs(point, "sco.clipped")
    chosen = short_text(clipped_plan(point)[1], 2)
    names = [f"private run (R = {chosen})", "same, no noise", "same, no noise, no clipping"]
    assert [run["name"] for run in picture["runs"]] == names
    for run, path in zip(picture["runs"], paths.values(), strict=True):
        assert run["risks"] == list(path.risks) and run["final"] == path.final
    assert picture["steps"] == paths["private"].steps.tolist()
    lengths = gradient_norms(point, paths["private"].points[-1])
    assert picture["norms"][-1] == pytest.approx(lengths[:400].tolist(), rel=1e-4)
    table = next(t.value for t in page.dataframe if "Excess risk" in t.value.columns)
    assert table["Excess risk"].iloc[0] == paths["private"].risks[0]
    errors = error_parts(point, trials=1)
    assert values(trace_named(parts, "whole error")) == pytest.approx(list(errors.total))
    stack = parts_figure(errors, errors.chosen).panels[0].regions
    positive = [region for region in stack if not region.key.endswith("below")]
    assert [region.name for region in positive] == [PART_NAMES[part] for part in PARTS]
    for part, region in zip(PARTS, positive, strict=True):
        thick = np.subtract(region.upper, region.lower)
        assert thick == pytest.approx(np.maximum(getattr(errors, part), 0), abs=1e-12)
    # Each bar begins where the one below it ends, and the positive bars less the negative ones add
    # up to the whole error.
    assert [r.lower for r in positive[1:]] == [r.upper for r in positive[:-1]]
    reduction = sum(
        (np.subtract(r.upper, r.lower) for r in stack if r not in positive), np.zeros(1)
    )
    assert np.subtract(positive[-1].upper, reduction) == pytest.approx(errors.total)


def test_path_curve_headline_and_words_are_at_the_radius_that_is_shown() -> None:
    factor = FACTORS[2]
    page = open_anatomy(problem="linear", radius=repr(factor))
    point = replace(POINT, problem="linear")
    picture, paths = player(page), single_runs(point, "sco.clipped", factor)
    radius_label = f"R = {short_text(factor * clipped_plan(point)[1], 2)}"
    assert picture["runs"][0]["name"] == f"private run ({radius_label})" and picture[
        "title"
    ].startswith(f"At {radius_label}")
    for run, path in zip(picture["runs"], paths.values(), strict=True):
        assert run["risks"] == list(path.risks) and run["final"] == path.final
    chosen = single_runs(point, "sco.clipped")
    # The player stays at its frame, since the picture is the same.
    assert player(open_anatomy(problem="linear"))["id"] == picture["id"]
    for kind in ("private", "clipped"):
        assert paths[kind].final != chosen[kind].final
    assert paths["exact"].final == chosen["exact"].final


def test_a_method_without_that_radius_says_that_its_run_does_not_follow_it() -> None:
    page = open_anatomy(
        problem="logistic",
        methods="sco.clipped,sco.noisy-gd",
        method="sco.noisy-gd",
        radius="0.5",
    )
    assert player(page)["runs"][0]["name"] == "private run"
    assert "are not private" in line_below(page)
    assert "does not change this run, which is of noisy gradient descent" in line_below(page)


def test_the_radius_moves_line_and_sentence_with_a_slider_where_there_is_no_picture() -> None:
    page = open_anatomy()  # This run has a single step.
    assert any(
        "stops nowhere on its way here: there is nothing to play" in m.value for m in page.markdown
    )
    assert not player(page)
    _, chosen = clipped_plan(POINT)
    norms = gradient_norms(POINT)
    sentences = []
    for factor in (1.0, FACTORS[2], FACTORS[-3]):
        page.get_by_key(STATE.key("radius")).set_value(factor)
        check_page(page.run())
        radius = factor * chosen
        (figure,) = specs(page)
        radius_label = f"R = {short_text(radius, 2)}"
        assert trace_named(figure, radius_label)["x"] == pytest.approx([radius] * 2)
        assert any(radius_label in a for a in annotation_texts(figure))
        assert percent(share_clipped(norms, radius)).replace("none", "no gradient") in radius_text(
            page
        )
        assert page.query_params.get("radius", "1") == f"{factor:g}"
        sentences.append(radius_text(page))
    assert len(set(sentences)) == 3


def test_the_address_sets_the_radius_of_the_picture() -> None:
    page = open_anatomy(problem="linear", radius="0.3")
    picture = player(page)
    assert picture["radius"] == pytest.approx(0.3 * picture["chosen"])
    assert f"radius **{picture['radius']:.2g}**" in radius_text(page)
    assert not page.get("select_slider") or all(
        s.label != "Clip radius R" for s in page.select_slider
    )


def test_the_shares_in_the_sentence_add_up_to_100_percent() -> None:
    parts = error_parts(POINT, trials=1)
    for radius in parts.radii:
        text = radius_sentence(gradient_norms(POINT), parts, float(radius)).split("clipped;")[1]
        total = 0.0
        for piece in text.split(","):
            share = float(piece.split("**")[1].removesuffix(" %").replace(",", ""))
            total += -share if "reduces it" in piece else share
        assert total == pytest.approx(100, abs=2.5)


def test_negative_parts_hang_below_zero_and_say_that_they_reduce_the_error() -> None:
    unit = np.ones(3)
    parts = ErrorParts(
        radii=np.array([1.0, 2.0, 4.0]),
        optimisation=unit,
        bias=np.array([2.0, -0.5, -0.5]),
        sampling=unit,
        noise=unit,
        chosen=2.0,
    )
    figure = parts_figure(parts, 2.0)
    regions = {r.name: r for r in figure.panels[0].regions}
    reduction = regions["clipping bias, reduces it"]
    assert reduction.lower == pytest.approx([0, -0.5, -0.5]) and not any(reduction.upper)
    bias = regions["clipping bias"]
    assert np.subtract(bias.upper, bias.lower) == pytest.approx([2, 0, 0])
    whole = next(line for line in figure.panels[0].lines if line.key == "whole")
    assert whole.y == pytest.approx([5, 2.5, 2.5])
    ladder_values = {row.name: row.values[0] for row in figure.ladder.rows}
    assert ladder_values["clipping bias"] == "-0.5" and ladder_values["whole error"] == "2.5"
    text = radius_sentence(np.array([1.0, 3.0]), parts, 2.0)
    assert "**50 %** of the gradients are clipped" in text
    assert "clipping bias reduces it by **20 %**" in text
    small = replace(parts, **{name: getattr(parts, name) / 1e5 for name in PARTS})
    assert "of the mean error (**2.5·10⁻⁵**)" in radius_sentence(np.array([1.0, 3.0]), small, 2.0)


def test_negative_parts_are_not_cut_off() -> None:
    """The sampling part of `/anatomy?d=2` at its smallest radius is nearly the figure's height."""
    parts = ErrorParts(
        radii=np.array([1.0, 2.0, 4.0]),
        optimisation=np.ones(3),
        bias=np.full(3, 3.0),
        sampling=np.full(3, -2.0),
        noise=np.ones(3),
        chosen=2.0,
    )
    axis = parts_figure(parts, 2.0).y
    assert axis.low < -2 and axis.high > 3
    assert not axis.log and len(axis.ticks) >= 4 and (0.0, "0") in axis.ticks


# Every test run covers these losses; `make test-slow` covers the others.
FEW_PROBLEMS = ("quadratic", "logistic")
LOSSES = [p if p in FEW_PROBLEMS else pytest.param(p, marks=pytest.mark.slow) for p in SCO_PROBLEMS]


@pytest.mark.parametrize("problem", LOSSES)
def test_every_loss_and_every_optimiser_is_drawn_or_refused(problem: str) -> None:
    for i, method in enumerate(methods_for(problem, "item")):
        if i % 4 != SCO_PROBLEMS.index(problem) % 4:
            continue
        page = open_anatomy(problem=problem, methods=method)
        figures = specs(page)
        names = [n for figure in figures for n in trace_names(figure)]
        has_table = any("Excess risk" in table.value.columns for table in page.dataframe)
        assert has_table != bool(page.info)
        assert "whole error" in names


def test_a_method_that_does_not_descend_is_played_as_a_share_of_its_run() -> None:
    picture = player(open_anatomy(methods="sco.phased-sgd", problem="linear"))
    assert picture["relative"] and picture["length"] == "end of the run"
    assert [run["name"] for run in picture["runs"]] == [
        "private run",
        "gradient descent, no privacy",
    ]
    assert all(run["shares"][0] == 0 and run["shares"][-1] == 1 for run in picture["runs"])


def test_a_pure_budget_is_refused_with_a_way_out() -> None:
    page = open_anatomy(delta="0")
    assert not page.get("plotly_chart")
    assert any("Gaussian noise cannot give pure DP" in i.value for i in page.info)
    way_out = next(b for b in page.button if b.label == "Change that")
    check_page(way_out.click().run())
    assert len(page.get("plotly_chart")) == 1


def test_a_link_restores_the_whole_page() -> None:
    query = {"distribution": "pareto", "rho": "0.5", "seed": "3", "radius": "2", "tuning": "theory"}
    page = open_anatomy(**query)
    written = dict(page.query_params.items())
    assert query.items() <= written.items()
    reopened = open_at("one_run", **written)
    assert radius_text(reopened) == radius_text(page) and not reopened.warning
    assert dict(reopened.query_params.items()) == written


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"radius": "x"}, "radius must be a number, got radius=x."),
        ({"radius": "0"}, "radius must be a factor between"),
        ({"n": "abc"}, "n must be an integer"),
        ({"problem": "x"}, "problem must be one of mean, quadratic,"),
    ],
)
def test_a_bad_address_costs_one_sentence(query: dict[str, str], words: str) -> None:
    page = open_anatomy(**query)
    assert words in page.warning[0].value
    assert len(page.get("plotly_chart")) == 1


def test_a_factor_outside_the_figure_is_taken_to_its_end() -> None:
    assert STATE.from_query({"radius": "1.1"})[0].radius == 1.1
    assert STATE.from_query({"radius": "100"})[0].radius == FACTORS[-1]
    view, problems = STATE.from_query({"radius": "nan"})
    assert view.radius == 1.0 and len(problems) == 1


def test_work_that_is_too_heavy_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dpsco_app.pages.one_run.page.LONGEST_SECONDS", 0.0)
    page = open_anatomy()
    assert any("use fewer trials, or a smaller n or d" in i.value for i in page.info)
    assert not page.get("plotly_chart") and radius_text(page).endswith("clipped.")


def path(*risks: float) -> RiskPath:
    """Return a path of gradient descent with these excess risks, one a step."""
    points = np.zeros((len(risks), 1))
    return RiskPath(
        steps=np.arange(len(risks)),
        risks=np.array(risks),
        points=points,
        value=points[-1],
        final=risks[-1],
    )


def test_the_parts_have_one_colour_each_on_every_page() -> None:
    assert [PART_COLOURS[p] for p in ("sampling", "bias", "noise")] == [SAMPLING, BIAS, NOISE]
    for dark in (False, True):
        colours = picture_data(POINT, dark=dark)["colours"]
        for part in ("sampling", "bias", "noise"):
            assert colours[part] == PART_COLOURS[part][dark]
    stack = parts_figure(error_parts(POINT, trials=1), 1.0).panels[0].regions
    assert all(r.look.fill == PART_COLOURS[r.key.removesuffix(" below")] for r in stack)


def test_the_page_says_where_clipping_helps_without_noise() -> None:
    sentence = clipping_remark(path(1, 0.002), path(1, 0.01))
    assert "0.002 with it, 0.01 without" in sentence and "largest gradients" in sentence
    assert clipping_remark(path(1, 0.01), path(1, 0.002)) == clipping_remark(None, path(1, 1)) == ""
    assert clipping_remark(path(1, 0.01), path(1, 0.0101)) == ""


def test_titles_name_what_costs_most() -> None:
    noisy = path_title(path(1, 0.1), path(1, 0.01), path(1, 0.009))
    assert noisy == GOLDEN["noise costs most in a run"]
    averaged = path_title(path(1, 0.1), path(1, 0.01), path(1, 0.009), 1.84)
    assert averaged == f"{noisy}; on average 1.8 times"
    assert path_title(path(1, 0.1), path(1, 0.01), path(1, 0.009), 1.0).endswith("hardly lower")
    clipped = path_title(path(1, 0.1), path(1, 0.09), path(1, 0.01))
    assert clipped == GOLDEN["clipping costs most in a run"]
    # Clipping has the larger ratio, 5 against 2, and noise the larger part of what is lost.
    assert "2 times lower" in path_title(path(1, 0.1), path(1, 0.05), path(1, 0.01))
    exact = path_title(path(1, 0.1), None, path(1, 1e-17))
    assert exact == GOLDEN["a run whose best end is 0"]
    assert "no better than it started" in path_title(path(1, 2), None, None)
    assert path_title(path(1, 0.1), path(1, 0.1), path(1, 0.1)).endswith("costs much in it")
    assert "as much as without privacy" in path_title(path(1, 0.1), None, path(1, 0.1))
    parts = error_parts(POINT, trials=1)
    best = parts.radii[parts.total.argmin()]
    title = parts_title(parts, parts.radii[0])
    if "bend lies outside" not in title:
        comparison = f"at {short_text(parts.radii[0], 2)} the error is"
        assert title.startswith(f"Radius {short_text(best, 2)} is best") and comparison in title
        assert parts_title(parts, best).endswith("the one that is shown, is best")
    assert percent(0.0) == "none" and percent(0.026) == "3 %" and percent(0.0002) == "0.02 %"


def test_the_headline_has_the_run_and_the_mean_of_the_figure_below() -> None:
    """The page is opened at two radii; the means in its text are those of three trials."""
    point = replace(POINT, problem="huber", trials=3)
    _, chosen = clipped_plan(point)
    parts = error_parts(point, trials=3)
    means, heads, helps = set(), set(), []
    for factor in (FACTORS[-1], 1.0):
        page = open_anatomy(problem="huber", trials="3", radius=repr(factor))
        _, _, _, noise = parts.at(factor * chosen)
        mean = sum(parts.at(factor * chosen))
        gain = f"; on average {short_text(mean / (mean - noise), 2)} times"
        assert headline_text(page) == player(page)["title"] + gain
        sentence = page.container(key="one_run_sentence").markdown[0].value
        assert sentence == radius_sentence(gradient_norms(point), parts, factor * chosen)
        assert percent(noise / mean) in sentence
        means.add(sentence)
        heads.add(line_below(page))
        helps.append(any("clipping helps even without noise" in m.value for m in page.markdown))
    # The text between headline and picture is the same at every radius, so nothing jumps.
    assert len(means) == 2 and len(heads) == 1 and helps == [True, False]


def test_the_parts_are_those_of_the_settings_of_the_page() -> None:
    page = open_anatomy(problem="linear", trials="2")
    page.select_slider(key=controls.PREFIX + "n").set_value(1000)
    check_page(page.run())
    point = replace(POINT, problem="linear", trials=2, n=1000)
    parts, radius = error_parts(point, trials=2), clipped_plan(point)[1]
    sentence = page.container(key="one_run_sentence").markdown[0].value
    assert sentence == radius_sentence(gradient_norms(point), parts, radius)


def test_a_run_whose_noise_cancels_shows_how_much_of_it_is_left_in_the_sum() -> None:
    page = open_at("one_run", problem="logistic", methods="sco.ftrl", n="2000", d="5", trials="1")
    assert any("times less noise" in s.value for s in page.subheader)
    (sentence,) = [c.value for c in page.caption if "noise that cancels" in c.value]
    steps = int(re.search(r"takes (\d+) step", sentence)[1])
    noise = cancelling(steps)
    assert f"{short_text(float(noise.sum_std[-1]), 2)} with noise that cancels" in sentence
    plain_page = open_at("one_run", problem="logistic", methods="sco.clipped", n="2000", d="5")
    assert not any("times less noise" in s.value for s in plain_page.subheader)
    figure = noise_figure(cancelling(100))
    spread = {line.key: line.y[-1] for line in figure.panels[0].lines if line.width > 2}
    assert spread == {
        "independent noise": 10.0,
        "noise that cancels": pytest.approx(2.53, abs=0.01),
    }


def test_a_run_that_a_visitor_has_seen_is_not_made_again_for_the_next_one() -> None:
    cached = (computed.single_runs, computed.frames_of, computed.error_split)
    open_anatomy(n="501")
    old_misses = [known.cache_info().misses for known in cached]
    open_anatomy(n="501")
    assert [known.cache_info().misses for known in cached] == old_misses
