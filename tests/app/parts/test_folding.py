"""The page comes light: what folds away is drawn when it is opened, and one figure a window."""

from __future__ import annotations

import pytest

from dpsco_app.parts import controls
from dpsco_app.shell.window import SIZE_KEY
from tests.app.pages import annotations, checked, chosen, figure, html, ladder, open_page


@pytest.mark.folded
def test_what_folds_away_is_drawn_when_it_is_opened_and_only_then() -> None:
    page = open_page()
    assert not page.dataframe and not page.get("download_button")
    page.session_state["fold_numbers"] = True
    checked(page.run())
    assert len(page.dataframe) == 1 and not page.get("download_button")
    page.session_state["explore_export"] = True
    checked(page.run())
    assert page.get("download_button")
    page.session_state["fold_numbers"] = False
    checked(page.run())
    assert not page.dataframe


@pytest.mark.folded
def test_controls_that_fold_away_keep_their_values() -> None:
    page = open_page(margin="1", tuning="theory")
    assert chosen(page).margin == 1 and chosen(page).tuning == "theory"
    assert "field_margin" not in {w.key for w in (*page.select_slider, *page.number_input)}
    page.session_state[controls.MORE_KEY] = True
    checked(page.run())
    page.get_by_key("field_tuning").set_value("practical")
    checked(page.run())
    page.session_state[controls.MORE_KEY] = False
    checked(page.run())
    checked(page.run())
    assert chosen(page).margin == 1 and chosen(page).tuning == "practical"


def test_a_window_has_the_figure_that_it_needs() -> None:
    page = open_page()
    wide, names, heard = figure(page), list(ladder(page)), html(page)
    page.session_state[SIZE_KEY] = "compact"
    phone = figure(checked(page.run()))
    assert {t.get("name") for t in phone["data"]} == {t.get("name") for t in wide["data"]}
    for name in ("With privacy", "Without privacy", "Proven limit"):
        assert any(f"<b>{name}</b>" in text for text in annotations(wide))
        assert not any(f"<b>{name}</b>" in text for text in annotations(phone))
    assert any("private</span>" in text for text in annotations(phone))  # beside its factor
    assert "class='ladder heard'" not in heard + html(page)
    assert list(ladder(page)) == names  # below it everywhere
