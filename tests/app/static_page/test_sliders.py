"""`dpsco page`: one file with the measurements, every bound, and sliders over them."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpsco_app.figure.colours import METHODS
from dpsco_app.static_page.sliders import (
    MOST_BYTES,
    PLACE_SECONDS,
    slider_places,
    sliders_page,
    sliders_seconds,
)
from dpsco_app.static_page.visit import Visit, theme_of
from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import bounds_for
from dpsco_core.cli.main import main
from dpsco_core.runs.cost import cost
from dpsco_core.scenario import Scenario

STUDY = Scenario(
    methods=("mean.sample", "mean.clipped"), axis="n", grid=(500, 1000), n=1000, d=5, trials=2
)
TOML = (
    'methods = ["mean.sample", "mean.clipped"]\naxis = "n"\ngrid = [500, 1000]\ntrials = 2\nd = 5'
)


def packed(page: str) -> dict[str, Any]:
    """Return the data that a page carries in compressed form."""
    match = re.search(r"id='packed'>([^<]+)<", page)
    assert match is not None
    data: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(match[1])))
    return data


@pytest.fixture(scope="module")
def page() -> str:
    """Return the page of sliders of the study."""
    return sliders_page(STUDY)


def test_each_place_of_the_sliders_has_its_own_answer_and_ladder(page: str) -> None:
    data, sliders = packed(page), slider_places(STUDY, ("epsilon",))
    lengths = [len(values) for values in sliders.values()]
    assert data["lengths"] == lengths and len(data["screens"]) == lengths[0] * lengths[1]
    # The screen shown is that at n = 1000 and epsilon = 1.
    place_index = lengths[1] + sliders["epsilon"].index(1)
    table = "".join(data["texts"][i] for i in data["screens"][place_index]["table light"])
    visit = Visit()
    visit.show(STUDY, visit.session.view)
    visit.step(60)
    own_table = visit.screen(theme_of(360, dark=False))["table"]
    cells = re.compile(r"<td>([^<]*)</td>")
    assert cells.findall(table) == cells.findall(own_table) and cells.findall(own_table)
    tables = {tuple(screen["table light"]) for screen in data["screens"]}
    assert len(tables) == len(data["screens"])


def test_every_bound_is_in_the_file(page: str) -> None:
    data = packed(page)
    for screen in data["screens"]:
        assert len(screen["bounds"]) == len(bounds_for("mean", "item"))


def test_the_file_is_small_and_contacts_no_host(page: str) -> None:
    drawings = re.sub(r"id='plotly'>[^<]+<", "", page)
    sizes = len(page.encode()), len(drawings.encode())
    assert sizes[0] < 750_000 < MOST_BYTES and sizes[1] < 220_000
    # The two sizes, in bytes, differ by Plotly's compressed script.
    assert sizes[0] - sizes[1] < 530_000
    assert not re.search(r"(src|href)=|https?://|@import|url\((?!#)", page)
    variables = set(re.findall(r"var\((--[\w-]+)\)", page))
    sheets = page.partition("</style>")[0]
    assert len(variables) > 3 and all(sheets.count(f"{name}: ") >= 2 for name in variables)


def test_both_themes_are_drawn_each_in_its_colours(page: str) -> None:
    data = packed(page)
    for screen in data["screens"]:
        names = {key.removesuffix(" light") for key in screen if key.endswith(" light")}
        assert {"head", "wide", "first", "table"} == names
        for name in names - {"head"}:
            for i, scheme in enumerate(("light", "dark")):
                text = "".join(data["texts"][k] for k in screen[f"{name} {scheme}"])
                assert METHODS["gold"][i] in text and METHODS["gold"][1 - i] not in text


def test_a_field_that_cannot_be_a_slider_gives_one_error() -> None:
    for fields in (("n",), ("trials",), ("d", "epsilon", "p"), ("rho",)):
        with pytest.raises(InvalidInput, match="over must be"):
            slider_places(STUDY, fields)


def test_the_command_writes_the_file_or_reports_the_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    study, out = tmp_path / "study.toml", tmp_path / "figure.html"
    study.write_text(TOML, encoding="utf-8")
    assert main(["page", str(study), "--out", str(out)]) == 0
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert main(["page", str(study), "--out", str(out), "--over", "seed"]) == 2
    assert capfd.readouterr().err.count("\n") == 1


def test_the_time_of_the_page_is_predicted_from_its_studies_and_its_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dpsco_core.runs.cost.machine_speed", lambda: 1.0)
    monkeypatch.setattr("dpsco_app.static_page.sliders.machine_speed", lambda: 1.0)
    studies = len(slider_places(STUDY, ("epsilon",))["epsilon"])
    drawing_time = PLACE_SECONDS * studies * len(STUDY.grid)
    short = sliders_seconds(STUDY)
    assert drawing_time < short < 2 * drawing_time
    # A hundred times the trials take a hundred times the runs, but the same drawings.
    long = sliders_seconds(replace(STUDY, trials=200))
    assert long - drawing_time == pytest.approx(100 * (short - drawing_time))
    run_time = sum(
        cost(replace(STUDY, epsilon=e)).seconds
        for e in slider_places(STUDY, ("epsilon",))["epsilon"]
    )
    assert short - drawing_time > run_time  # The runs include those of the hardest case.


def test_a_study_over_the_dimension_without_an_epsilon_gets_a_slider_of_another_field() -> None:
    study = replace(STUDY, epsilon=None, delta=None, rho=0.5, axis="d", grid=(5, 10))
    assert 0 < sliders_seconds(study) < math.inf
