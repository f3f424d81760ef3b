"""The part of Users about items that are alike, and the slider of every page at user level."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpsco_app.front.because import because
from dpsco_app.front.changes import fit_other_fields
from dpsco_app.front.fits import item_level, with_problem
from dpsco_app.pages.users.alike import (
    INDEPENDENT,
    SHARES,
    alike_answer,
    alike_figure,
    alike_small,
)
from dpsco_app.pages.users.state import STATE, alike_study, fit
from dpsco_app.parts.fields import front_fields
from dpsco_app.parts.options import rounded
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.explain.users.alike import ADAPTIVE, CLIPPED, POOLED, sampling_error
from dpsco_core.explain.users.crossing import Errors
from dpsco_core.fields import has_alike_items
from dpsco_core.scenario import Scenario
from tests.app.pages import check_page, drawn_html, headline_text
from tests.app.places.test_one_run import open_at
from tests.golden_sentences import GOLDEN

QUICK = {"part": "alike", "n": "500", "d": "2", "trials": "2"}
USERS = Scenario(n=500, m=10, d=2, p=2.5, methods=(POOLED, ADAPTIVE))


def errors_with(method: str, means: list[float]) -> Errors:
    """Return the errors of a method at 1, 10, 100, ... items; both trials have these means."""
    items = 10.0 ** np.arange(len(means))
    return Errors(method=method, items=items, risks=np.array([[x, x] for x in means]))


def test_the_figure_holds_the_errors_and_what_users_share() -> None:
    study = alike_study(fit(Scenario(n=1000, d=4)), 0.2)
    curves = {slug: errors_with(slug, [0.4, 0.3, 0.2]) for slug in (POOLED, CLIPPED, ADAPTIVE)}
    figure = alike_figure(curves, errors_with(ADAPTIVE, [0.4, 0.1, 0.05]), study)
    lines = {line.name: line for line in figure.panels[0].lines}
    assert list(lines[INDEPENDENT].y) == [0.4, 0.1, 0.05]
    assert list(lines["Adaptive user means"].y) == [0.4, 0.3, 0.2]
    assert lines["what users share"].y[0] == sampling_error(study, float("inf"))
    assert [row.values for row in figure.ladder.rows][-1] == [rounded(0.05)]
    assert figure.alt == (
        f"At γ = 0.2, 100 items per user bring the mean error from {rounded(0.4)} to "
        f"{rounded(0.2)}; "
        f"independent ones, to {rounded(0.05)}"
    )
    assert "m ≈ 1/γ = 5 items" in alike_small(study)
    plain = alike_study(fit(Scenario(n=1000, d=4)), 0.0)
    names = [line.name for line in alike_figure(curves, curves[ADAPTIVE], plain).panels[0].lines]
    assert INDEPENDENT not in names and "what users share" not in names
    assert alike_answer(curves[ADAPTIVE], curves[ADAPTIVE], plain).startswith("Of independent")


@pytest.mark.parametrize("share", [0.3, 0.0, 1.0])
def test_the_slider_is_in_the_address_and_in_the_answer(share: float) -> None:
    page = open_at("users", **QUICK, share=f"{share:g}")
    answer = headline_text(page)
    assert answer.startswith(f"At γ = {share:g}, " if share else "Of independent items, ")
    assert "What are more items per user worth" in drawn_html(page)
    assert "Squared distance (yours" not in drawn_html(page)
    assert not [s for s in page.sidebar.select_slider if s.label == "Items per user m"]
    page.get_by_key(STATE.key("share")).set_value(0.5)
    assert headline_text(check_page(page.run())).startswith("At γ = 0.5, ")
    assert page.query_params["share"] == "0.5"


def test_an_invalid_share_is_reported_and_ignored() -> None:
    view, problems = STATE.from_query({"share": "1.5"})
    assert view == STATE.default and problems[0].startswith("share must be at least 0")
    assert STATE.default.share in SHARES


def test_the_share_slider_appears_at_user_level_for_means_of_ordinary_laws() -> None:
    assert has_alike_items(USERS) and "alike" in front_fields(USERS)
    for changes in (
        {"m": 1},
        {"distribution": "hypercube"},
        {"problem": "quadratic", "methods": ("user.clipped-means",)},
        {"p": 1.5},
    ):
        assert not has_alike_items(replace(USERS, **changes))
    assert "alike" not in front_fields(replace(USERS, m=1))
    assert has_alike_items(replace(USERS, m=1, axis="m", grid=(1.0, 3.0)))


def test_items_become_independent_where_alike_items_are_not_supported() -> None:
    alike = replace(USERS, alike=0.3)
    for field, value in (("m", 1), ("distribution", "hypercube"), ("problem", "quadratic")):
        changed, _ = fit_other_fields(replace(alike, **{field: value}), field)
        assert changed.alike == 0
        assert changed.validate(DASHBOARD)
    assert fit_other_fields(replace(alike, n=1000), "n")[0].alike == 0.3
    assert item_level(alike).alike == 0 and item_level(replace(alike, m=1)).alike == 0
    assert with_problem(alike, "quadratic", ("quadratic",)).validate(DASHBOARD).alike == 0
    assert fit(alike).validate(DASHBOARD).alike == 0


def test_a_change_of_the_share_is_explained() -> None:
    alike = replace(USERS, alike=0.3)
    grown = because(USERS, alike, "alike")
    assert grown == GOLDEN["a larger correlation, because"]
    assert because(alike, USERS, "alike").startswith("Because γ fell to 0, each further item")
