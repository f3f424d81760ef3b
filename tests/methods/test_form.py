"""Methods that run in a form other than the printed one state so, from a single source."""

from __future__ import annotations

import json
from typing import Literal

import pytest

from dpsco_core.catalogue import METHODS, method_class
from dpsco_core.cli.main import main
from dpsco_core.methods.form import form_of
from dpsco_core.results.report import measured_json
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario


@pytest.mark.parametrize(
    ("slug", "tag"),
    [
        ("mean.cwme-cdp", "one block"),
        ("sco.cwme", "one block"),
        ("mean.iterative", "8 groups"),
        ("sco.iterative", "8 groups"),
        ("user.accelerated", "full batch"),
        ("sco.objective-perturbation-strong", "noisy clipped mean"),
        ("lp.batched-mirror-descent", "reconstructed"),
        ("mean.clipped", ""),
    ],
)
def test_a_practical_run_names_its_departures_from_the_printed_form(slug: str, tag: str) -> None:
    form = form_of(method_class(slug), "tight", "practical")
    assert form is not None and form.tag == tag
    assert form.name == ("reconstructed" if tag == "reconstructed" else "calibrated")
    assert "the least noise that the proof allows" in form.text


@pytest.mark.parametrize(
    ("slug", "name"),
    [
        ("mean.cwme-cdp", "as printed"),
        ("mean.clipped", "as printed"),
        ("user.accelerated", "calibrated"),
        ("sco.noisy-gd", "calibrated"),
    ],
)
def test_runs_with_printed_noise_and_parameters_are_called_as_printed(
    slug: str, name: Literal["as printed", "calibrated"]
) -> None:
    form = form_of(method_class(slug), "paper", "theory")
    assert form is not None and form.name == name and "the printed noise" in form.text


def test_baselines_and_methods_without_a_paper_have_no_form() -> None:
    for slug in ("mean.sample", "sco.erm", "mean.adaptive", "user.clipped-means"):
        assert form_of(method_class(slug), "tight", "practical") is None
    for slug in ("user.group-privacy", "user.mean-group"):
        assert form_of(method_class(slug), "tight", "practical") is None


def test_every_departure_is_a_short_tag_and_one_sentence() -> None:
    for method in METHODS:
        for departure in method.departs:
            assert 0 < len(departure.tag) <= 24, method.card.slug
            assert departure.text[0].isupper() and departure.text.endswith("."), method.card.slug


def test_the_number_of_blocks_in_use_is_the_one_that_the_tag_names() -> None:
    point = Scenario(methods=("mean.cwme-cdp", "mean.iterative"), trials=1, n=1000, d=3)
    block_result, group_result = measured_json(point, tuple(study(point)))["results"]
    assert block_result["diagnostics"]["blocks"] == 1 and group_result["diagnostics"]["groups"] == 8


def test_a_run_and_a_method_print_the_form(capsys: pytest.CaptureFixture[str]) -> None:
    point = Scenario(methods=("mean.sample", "mean.cwme-cdp"), trials=1, n=1000)
    public, private = measured_json(point, tuple(study(point)))["results"]
    assert public["form"] is None and public["form_text"] is None
    assert private["form"] == "calibrated" and "single block" in private["form_text"]
    main(["about", "mean.cwme-cdp", "--json"])
    assert json.loads(capsys.readouterr().out)["form_text"] == private["form_text"]
    main(["about", "mean.cwme-cdp"])
    assert private["form_text"] in " ".join(capsys.readouterr().out.split())
