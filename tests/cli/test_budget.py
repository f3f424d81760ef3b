"""`dpsco budget` answers in its first line, and counts releases in epochs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dpsco_core.cli.main import main
from dpsco_core.explain.recipe.noise import epsilon_of, noise_for
from dpsco_core.privacy.allocated_passes import allocate_passes
from dpsco_core.privacy.budget import gaussian_epsilon, gaussian_rho
from dpsco_core.privacy.poisson import DIRECTIONS
from tests.folded import each

BATCHES = ("--batch", "600", "--records", "60000")


def lines_of(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """Return the lines that `dpsco budget` prints."""
    assert main(["budget", *words]) == 0
    return capsys.readouterr().out.splitlines()


def numbers_of(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """Return the document that `dpsco budget --json` prints."""
    assert main(["budget", *words, "--json"]) == 0
    numbers: dict[str, Any] = json.loads(capsys.readouterr().out)
    return numbers


# Each question has the flags, the value that the first line must state, the neighbours, the
# sampling and the accountant.
QUESTIONS: tuple[tuple[str, float, str, str, str], ...] = (
    ("", noise_for(1.0, 1e-6).replace_one or 0.0, "replace-one", "no sampling", "exact"),
    (
        "--noise-multiplier 1.1 --releases 500 --sampling poisson",
        epsilon_of(1.1, 1e-6, releases=500, sampling="poisson", batch=600, records=60_000).epsilon,
        "replace-one",
        "Poisson batches",
        "PLD",
    ),
    (
        "--noise-multiplier 1.1 --releases 9 --neighbours add-remove",
        gaussian_epsilon(9 / (2 * 1.1**2), 1e-6),
        "add/remove",
        "no sampling",
        "exact",
    ),
    (
        "--epochs 5 --sampling fixed",
        noise_for(1.0, 1e-6, releases=500, sampling="fixed", batch=600, records=60_000).replace_one
        or 0.0,
        "replace-one",
        "fixed batches",
        "RDP",
    ),
    (
        "--steps 8 --passes 10",
        allocate_passes(8, 10, 1.0, 1e-6, 16).noise_multiplier,
        "replace-one",
        "random allocation",
        "exact",
    ),
    ("--rho 0.5", gaussian_epsilon(0.5, 1e-6), "replace-one", "no sampling", "exact"),
    ("--delta 0 --releases 4", 4.0, "replace-one", "no sampling", "exact"),
)


@each(("flags", "value", "neighbours", "sampling", "accountant"), QUESTIONS)
def test_the_first_line_is_the_answer_with_all_that_it_depends_on(
    capsys: pytest.CaptureFixture[str],
    flags: str,
    value: float,
    neighbours: str,
    sampling: str,
    accountant: str,
) -> None:
    sizes = BATCHES if "poisson" in flags or "epochs" in flags else ()
    lines = lines_of(capsys, *flags.split(), *sizes)
    assert lines[0].startswith("Answer: ") and f" {value:.4g} " in lines[0]
    for words in (f"({neighbours})", sampling, f"{accountant} accountant"):
        assert words in lines[0]
    assert lines[1].startswith("It is ") and max(map(len, lines)) <= 100
    answer = numbers_of(capsys, *flags.split(), *sizes)["answer"]
    assert f"Answer: {answer['line']}" == lines[0]


def test_the_command_answers_for_every_way_to_sample_the_records(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sizes = ("--records", "1000")
    shuffled = numbers_of(capsys, *sizes)
    noise = min(row["noise_multiplier"] for row in shuffled["shuffling"])
    assert f"noise multiplier {2 * noise:.4g} (replace-one)" in shuffled["answer"]["line"]
    batch = numbers_of(capsys, *sizes, "--batch", "10")
    assert f"epsilon {batch['subsampling']['epsilon']:.4g} " in batch["answer"]["line"]
    batches = numbers_of(capsys, *sizes, "--batch", "10", "--releases", "30")
    assert f"at most {batches['batches']['epsilon']:.4g} " in batches["answer"]["line"]
    implied = numbers_of(capsys, "--delta", "0")
    assert "rho 0.4621 of zCDP" in implied["answer"]["line"]


def test_epochs_are_releases_on_batches_rounded_up(capsys: pytest.CaptureFixture[str]) -> None:
    noise = ("--noise-multiplier", "1.1", *BATCHES)
    for epochs, releases in ((5, 500), (0.05, 5), (0.051, 6), (3, 300)):
        by_epochs = numbers_of(capsys, *noise, "--epochs", str(epochs))["noise"]
        by_releases = numbers_of(
            capsys, *noise, "--releases", str(releases), "--sampling", "poisson"
        )["noise"]
        assert by_epochs == by_releases and by_epochs["releases"] == releases


def test_a_given_noise_is_priced_for_both_kinds_of_neighbours_and_for_no_other_budget(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sizes: dict[str, Any] = {"releases": 500, "batch": 600, "records": 60_000}
    prices = {
        name: epsilon_of(1.1, 1e-6, sampling="poisson", neighbours=name, **sizes).epsilon
        for name in DIRECTIONS
    }
    flags = ("--noise-multiplier", "1.1", *BATCHES, "--epochs", "5")
    document = numbers_of(capsys, *flags)
    assert set(document) == {"answer", "noise", "stated"} and document["stated"] == {}
    noise = document["noise"]
    assert (noise["epsilon"], noise["epsilon_add_remove"]) == (
        prices["replace-one"],
        prices["add-remove"],
    )
    assert {k for k in noise if "multiplier" in k} == {"noise_multiplier_replace_one"}
    answer = lines_of(capsys, *flags)[0]
    assert f"epsilon {prices['replace-one']:.4g} (replace-one), " in answer
    assert f", {prices['add-remove']:.4g} (add/remove); " in answer
    # Fixed batches have no proof for records that are added or removed.
    fixed = numbers_of(capsys, *flags, "--sampling", "fixed")
    assert "epsilon_add_remove" not in fixed["noise"]
    assert fixed["noise"]["neighbours"] == "replace one"


@pytest.mark.parametrize("neighbours", DIRECTIONS)
@pytest.mark.parametrize("flags", [("--releases", "9"), (*BATCHES, "--epochs", "1")], ids=str)
def test_a_budget_asks_for_the_noise_of_one_kind_of_neighbours(
    capsys: pytest.CaptureFixture[str], flags: tuple[str, ...], neighbours: str
) -> None:
    noise = numbers_of(capsys, "--target-epsilon", "2", *flags)["noise"]
    document = numbers_of(capsys, "--target-epsilon", "2", "--neighbours", neighbours, *flags)
    name = "noise_multiplier_" + neighbours.replace("-", "_")
    assert {k for k in document["noise"] if "multiplier" in k} == {name}
    assert document["noise"][name] == noise[name]
    assert (
        f"noise multiplier {noise[name]:.4g} ({neighbours.replace('add-', 'add/')}); "
        in (document["answer"]["line"])
    )


def test_a_budget_for_all_batches_is_not_composed_as_that_of_each(
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = numbers_of(capsys, *BATCHES, "--epochs", "5")
    assert {"composition", "total"}.isdisjoint(document)
    flat = " ".join(" ".join(lines_of(capsys, "--releases", "5")).split())
    assert "each release spends the whole budget" in flat


@each(
    ("flags", "message"),
    [
        (
            "--epochs 3 --steps 5",
            "steps must be left out beside epochs, which set them, got steps=5.",
        ),
        (
            "--epochs 3 --releases 5 --batch 3 --records 9",
            "releases must be left out beside epochs, which set them, got releases=5.",
        ),
        ("--epochs 3 --batch 5", "batch and records must be given with epochs, got none."),
        (
            "--epochs 3 --batch 5 --records 9 --sampling none",
            "sampling must be fixed or poisson with epochs, got sampling=none.",
        ),
        (
            "--epochs 0 --batch 5 --records 9",
            "epochs must be at least 1e-12 and at most 1e+06, got epochs=0.",
        ),
        (
            "--epochs 3 --batch 0 --records 9",
            "batch must be an integer between 1 and 10,000,000, got batch=0.",
        ),
        ("--epochs 3 --batch 5 --records 9 --rho 1", "epochs must be left out of a zcdp budget"),
        (
            "--noise-multiplier 2 --epsilon 3",
            "epsilon must be left out beside noise-multiplier, from which it follows, got ",
        ),
        (
            "--epochs 3 --batch 5 --records 9 --sampling fixed --neighbours add-remove",
            "neighbours must be replace-one for fixed batches, got neighbours=add-remove.",
        ),
        ("--max-grad-norm 1", "library must be given with max-grad-norm, got library=none."),
        ("--noise-multiplier 2 --steps 3", "steps must be left out beside noise-multiplier"),
        (
            "--noise-multiplier 2 --records 9",
            "sampling must be fixed or poisson with records and noise-multiplier, got ",
        ),
    ],
)
def test_flags_that_do_not_fit_are_refused_in_one_sentence(
    capsys: pytest.CaptureFixture[str], flags: str, message: str
) -> None:
    assert main(["budget", *flags.split()]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["budget", "--epsilon", "1", "--neighbours", "replace"], "replace-one"),
        (["budgt", "--epsilon", "1"], "budget"),
    ],
)
def test_a_wrong_word_is_answered_with_the_nearest_one(
    words: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(words)
    error = capsys.readouterr().err
    assert f"; did you mean {name}?)." in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--epsilon", "1", "--delta", "1e-6"], ("rho", gaussian_rho(1.0, 1e-6) / 4)),
        (["--epsilon", "1", "--delta", "0"], ("epsilon", 0.25)),
        (["--rho", "0.1"], ("rho", 0.025)),
    ],
)
def test_the_share_of_each_release_costs_the_budget_together(
    words: list[str], expected: tuple[str, float], capsys: pytest.CaptureFixture[str]
) -> None:
    share = numbers_of(capsys, *words, "--releases", "4")["share"]
    name, value = expected
    assert share == {name: pytest.approx(value, rel=1e-12)}
    if words[0] == "--epsilon" and name == "rho":
        assert gaussian_epsilon(4 * share["rho"], 1e-6) == pytest.approx(1.0, rel=1e-9)
