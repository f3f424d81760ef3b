"""Errata: each entry is shown, filtered and counted, and its experiment runs."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from dpsco_app.pages.methods.words import topic
from dpsco_app.parts.options import in_print
from dpsco_core.catalogue import method_card
from dpsco_core.explain.errata import ERRATA, SLUGS, errata_of, erratum, methods_of
from tests.app.pages import check_page, headline_text, written_text
from tests.app.places.test_one_run import open_at

SCRIPT = """
import streamlit as st
from dpsco_app.pages.methods import errata
st.set_page_config(layout="wide")
errata.page()
"""


def open_errata(**query: str) -> AppTest:
    """Return the page of errata at a query, after its first run."""
    page = AppTest.from_string(SCRIPT, default_timeout=60)
    for key, value in query.items():
        page.query_params[key] = value
    return check_page(page.run())


def shown_code(page: AppTest) -> list[str]:
    """Return the blocks of code of a page, without the last one, which is its address."""
    return [block.value for block in page.code][:-1]


def test_an_erratum_is_shown_and_its_experiment_runs() -> None:
    page = open_errata(erratum="arora.one-step")
    entry = erratum("arora.one-step")
    for text in (entry.printed, entry.wrong, entry.instead):
        assert text in written_text(page)
    assert entry.experiment is not None
    finding = entry.experiment.run()
    assert in_print(finding.sentence) in written_text(page)
    assert "δ = 10⁻⁷" in written_text(page) and "1e-07" not in in_print(finding.sentence)
    table = page.table[0].value
    assert list(table.columns) == list(finding.columns) and len(table) == len(finding.rows)


def test_an_erratum_shows_the_commands_that_repeat_and_check_it_as_code() -> None:
    entry = next(e for e in ERRATA if e.check is not None)
    assert entry.experiment is not None and entry.check is not None
    page = open_errata(erratum=entry.slug)
    assert shown_code(page) == [entry.repeated_by, entry.check.command]
    assert entry.experiment.inputs in written_text(page)
    assert entry.check.meaning in written_text(page)
    unrun = next(e for e in ERRATA if e.experiment is None)
    assert shown_code(open_errata(erratum=unrun.slug)) == []


def test_every_erratum_is_in_the_table_with_its_paper() -> None:
    page = open_errata()
    table = page.dataframe[0].value
    assert table["About"].tolist() == [topic(e) for e in ERRATA]
    assert table["What is wrong"].tolist() == [e.severity for e in ERRATA]
    assert table["Paper"].nunique() == len({e.paper for e in ERRATA}) >= 5
    assert tuple(e.slug for e in ERRATA) == SLUGS
    assert ERRATA[0].printed in written_text(page)


def test_a_method_and_its_errata_lead_to_each_other() -> None:
    def links(page: AppTest) -> dict[str, str]:
        """Return the query of each link of a page, by its label."""
        return {link.proto.label: link.proto.query_string for link in page.get("page_link")}

    method = open_at("methods", method="mean.iterative")
    entries = errata_of("mean.iterative")
    assert len(entries) >= 4
    for entry in entries:
        assert f"erratum={entry.slug}" in links(method)[topic(entry)]
        assert "mean.iterative" in methods_of(entry)
    page = open_errata(erratum=entries[0].slug)
    for slug in methods_of(entries[0]):
        assert f"method={slug}" in links(page)[method_card(slug).name]
    assert errata_of("mean.sample") == ()
    assert errata_of("mean.cwme-pure") == errata_of("mean.cwme-cdp") != ()


def test_the_errata_are_counted_in_a_sentence() -> None:
    page = open_errata()
    grave = [e for e in ERRATA if e.severity == "not private as printed"]
    assert headline_text(page).startswith(f"{len(ERRATA)} entries, ")
    assert headline_text(page).endswith(
        f"{len(grave)} published statements are not private as printed"
    )
