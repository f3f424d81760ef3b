"""Errata: every entry refers to code that exists, and every experiment shows its claim.

The numbers come from docs/theory, where they were computed independently.
"""

from __future__ import annotations

import importlib.util
import json
import math
import shlex
from collections import Counter

import numpy as np
import pytest

from dpsco_core.base.cards import Paper
from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.main import main
from dpsco_core.explain.errata import ERRATA, SEVERITIES, SLUGS, Erratum, Finding, erratum
from dpsco_core.explain.errata import arora_runs as arora
from dpsco_core.explain.errata import kamath_runs as kamath
from dpsco_core.explain.errata import lowy_runs as lowy
from dpsco_core.explain.errata import su_runs as su
from dpsco_core.explain.errata import zhao_runs as zhao
from tests.folded import each
from tests.golden_sentences import GOLDEN

RUNS = [e for e in ERRATA if e.experiment is not None]


def column(finding: Finding, name: str) -> list[float]:
    """Return a column of a finding's table as numbers."""
    return [float(row[finding.columns.index(name)]) for row in finding.rows]


def test_the_list_covers_the_five_papers_and_names_each_entry_once() -> None:
    assert len(set(SLUGS)) == len(SLUGS) >= 90
    papers: Counter[Paper] = Counter(e.paper for e in ERRATA)
    assert len(papers) == 5 and min(papers.values()) >= 15
    prefixes = {slug.split(".")[0] for slug in SLUGS}
    assert prefixes == {"kamath", "zhao", "su", "arora", "lowy"}
    assert len(RUNS) >= 45
    assert {e.severity for e in ERRATA} == set(SEVERITIES)


def test_every_entry_is_complete() -> None:
    for entry in ERRATA:
        for module in entry.modules:
            assert importlib.util.find_spec(module) is not None, (entry.slug, module)
        for text in (entry.printed, entry.wrong, entry.instead, entry.statement):
            assert text.strip() and text.count("$") % 2 == 0, entry.slug
            assert text.count("{") == text.count("}"), entry.slug
        assert entry.instead.rstrip().endswith("."), entry.slug


@each("entry", RUNS, ids=[e.slug for e in RUNS])
def test_an_experiment_shows_its_error(entry: Erratum) -> None:
    assert entry.experiment is not None
    finding = entry.experiment.run()
    assert finding.shows, finding.sentence
    assert finding.sentence.endswith(".")
    for row in finding.rows:
        assert all(isinstance(v, str) or not math.isnan(v) for v in row)


def test_the_printed_noise_of_smoothing_spends_what_the_note_computes() -> None:
    finding = kamath.smoothing_noise()
    factors = dict(zip(column(finding, "c"), column(finding, "ρ spent / claimed"), strict=True))
    expected = {0.01: 1.7778, 0.1: 1.7722, 0.25: 1.6196, 0.5: 1.2625, 0.75: 1.0048, 1: 0.8286}
    for c, factor in expected.items():
        assert factors[c] == pytest.approx(factor, abs=1e-4)
    excess = column(finding, "δ / claimed δ")
    # The release is private exactly where the factor is at most 1.
    assert [e > 1 for e in excess] == [f > 1 for f in column(finding, "ρ spent / claimed")]


def test_the_literal_steps_have_the_noise_of_the_note() -> None:
    finding = kamath.literal_steps()
    assert column(finding, "literal T")[1] == pytest.approx(5.35e6, rel=1e-3)
    assert column(finding, "E‖noise‖² of a step")[1] == pytest.approx(8.4e6, rel=0.01)


def test_only_the_volume_normalises_the_density_to_one() -> None:
    constants = column(su.surface_area(), "normalising constant")
    assert constants == pytest.approx([7.416299, 7.416299, 7.017698], abs=1e-5)


def test_one_step_has_the_delta_of_the_note() -> None:
    over_claim = column(arora.one_step(), "over claim")
    assert over_claim[:2] == pytest.approx([24.9136898916, 416], rel=1e-3)
    assert arora.one_step().rows[0][4] == pytest.approx(2.49136898916e-6, rel=1e-9)


def test_the_noise_of_theorem_6_is_that_of_the_note() -> None:
    finding = arora.noise_of_the_theorem()
    assert column(finding, "no amplification")[0] == pytest.approx(72.609, abs=2e-3)
    assert column(finding, "sound shuffling")[::2] == pytest.approx([18.212, 8.318], abs=2e-3)


def test_the_filter_keeps_two_fifths_of_the_hub_and_its_petals() -> None:
    finding = lowy.kept_points()
    assert column(finding, "kept / K") == pytest.approx([0.4] * 3)
    assert column(finding, "score / K") == pytest.approx([0.7] * 3)


def test_the_hidden_constants_are_those_of_the_note() -> None:
    assert column(su.hidden_constant(), "constant") == pytest.approx([178, 168, 189], rel=0.01)


def test_the_gaussian_definition_fails_for_epsilon_from_nine_on() -> None:
    finding = lowy.gaussian_definition()
    over_claim = dict(zip(column(finding, "ε"), column(finding, "δ over claim"), strict=True))
    assert over_claim[5.0] < 1 < over_claim[12.0] < over_claim[20.0]
    # Too little noise and too large a delta are equivalent.
    short = np.array(column(finding, "σ/Δ printed")) < np.array(column(finding, "σ/Δ exact"))
    assert list(short) == [value > 1 for value in over_claim.values()]


def test_the_command_lists_prints_and_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["errata", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["errata"]
    assert [row["slug"] for row in listed] == list(SLUGS)
    assert main(["errata", "--slug", "arora.one-step", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["finding"]["shows"] is True
    assert document["finding"]["rows"][0][5] == pytest.approx(24.9137, abs=1e-3)
    assert main(["errata", "--severity", "not private as printed"]) == 0
    printed = capsys.readouterr().out
    for entry in ERRATA:
        assert (entry.slug in printed) == (entry.severity == "not private as printed")
    assert main(["errata", "--slug", "lowy.kept-points"]) == 0
    assert "0.4" in capsys.readouterr().out
    assert main(["errata", "--slug", "nothing"]) == 2
    assert "slug that `dpsco errata` lists, got erratum=nothing" in capsys.readouterr().err
    assert main(["errata", "--severity", "grave"]) == 2
    assert "severity must be one of" in capsys.readouterr().err


def test_the_command_reports_omissions_of_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["errata"]) == 0
    printed = capsys.readouterr().out
    assert GOLDEN["five papers without experiments"] in printed
    assert "Amid et al." in printed and "Remark 5.3" in printed


def test_an_impossible_entry_is_refused() -> None:
    with pytest.raises(InvalidInput, match="erratum must be a slug"):
        erratum("kamath.none")
    with pytest.raises(InvalidInput, match="one value a column"):
        Finding(sentence="x", columns=("a", "b"), rows=((1.0,),), shows=True)
    with pytest.raises(InvalidInput, match="at least one row"):
        Finding(sentence="x", columns=("a",), rows=(), shows=True)


CHECKED = [e for e in ERRATA if e.check is not None]


@each("entry", CHECKED, ids=[e.slug for e in CHECKED])
def test_the_command_of_a_check_prints_what_the_erratum_says(
    entry: Erratum, capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry.check is not None
    program, *words = shlex.split(entry.check.command)
    assert program == "dpsco" and main(words) == 0
    assert entry.check.prints in " ".join(capsys.readouterr().out.split())


def test_the_numbers_of_checks_are_those_of_the_experiments() -> None:
    def prints(slug: str) -> str:
        """Return what the check of an erratum prints."""
        check = erratum(slug).check
        assert check is not None
        return check.prints

    spent = column(kamath.smoothing_noise(), "ρ spent / claimed")[0]
    assert f"{spent:.3g} times less private" in prints("kamath.smoothing-noise")
    assert f"{column(arora.noise_of_the_theorem(), 'no amplification')[0]:.4g}" in prints(
        "arora.amplification-loses"
    )
    assert f"{column(zhao.conversion(), 'ε of the lemma')[0]:.4g}" in prints("zhao.conversion")
    assert f"{column(zhao.group_shuffle(), 'ρ by (24)')[-1]:.4g}" in prints("zhao.group-shuffle")
    assert f"{column(zhao.plain_share(), 'ρ by (24)')[0]:.3g}" in prints("zhao.side-condition")
    least = column(lowy.gaussian_definition(), "σ/Δ exact")[-1]
    assert f"{least:.4g}" in prints("lowy.gaussian-definition")
    assert f"{column(kamath.void_packing(), 'printed p')[-1]:.4g}" in prints("kamath.void-packing")


def test_every_experiment_says_what_it_starts_from_and_how_it_is_repeated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for entry in RUNS:
        assert entry.experiment is not None and not entry.experiment.inputs.endswith(".")
        assert entry.to_dict()["repeated_by"] == f"dpsco errata --slug {entry.slug}"
    assert all(e.repeated_by is None and e.check is None for e in ERRATA if e not in RUNS)
    slug = "kamath.smoothing-noise"
    assert main(["errata", "--slug", slug]) == 0
    text = capsys.readouterr().out
    entry = erratum(slug)
    assert entry.check is not None
    assert f"\nCheck it by: {entry.check.command}\n" in text
    flat = " ".join(text.split())
    assert "Computed now from n = 100 records" in flat
    assert f"Repeat it by: dpsco errata --slug {slug}" in flat
    assert main(["errata", "--slug", slug, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["check"]["command"] == entry.check.command
    assert document["inputs"].startswith("n = 100 records")
