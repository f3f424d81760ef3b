"""What `dpsco bounds` and `dpsco run` print of bounds: only what holds, each reason once."""

from __future__ import annotations

import json
import re

import pytest

from dpsco_core.catalogue import PROBLEM_SLUGS, bounds_for
from dpsco_core.cli.main import main
from dpsco_core.cli.tools import format_table
from dpsco_core.geometry import GEOMETRIES

SMALL = ("--n", "200", "--d", "10", "--trials", "2")
SETS = {
    "l1": "the l1 ball",
    "simplex": "the simplex",
    "solid-simplex": "the solid simplex",
    "group-l1": "the group-l1 ball",
    "sparse": "the hull of sparse vectors",
    "lq": "an lq ball with q = 1.5",
}


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that must succeed; return what it prints."""
    assert main(words) == 0
    return str(capsys.readouterr().out)


LOWER = {b.card.slug: b.card for b in bounds_for("mean") if b.card.kind == "lower"}
# Signs on some coordinates, or in pairs, have means in every set, while codes are for balls only.
CUBES = {slug for slug, card in LOWER.items() if card.instance in ("hypercube", "tracing")}
BELOW_TWO = {b.card.slug for b in bounds_for("mean") if b.has_scope}
NOT_HERE = {slug for slug, card in LOWER.items() if card.instance == "spike"}


def lower_rows(text: str) -> list[list[str]]:
    """Return the words of each line that is a lower bound on a mean."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    return [row for row in rows if row[0] in LOWER]


def on_set(kind: str) -> tuple[str, ...]:
    """Return the flags of a mean on a set of a kind."""
    return ("--problem", "mean", "--geometry", kind, *(("--q", "1.5") if kind == "lq" else ()))


@pytest.mark.parametrize("kind", SETS)
def test_a_bound_on_a_mean_in_another_set_is_a_dash_with_its_reason_once(
    capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    text = printed(capsys, "bounds", "--all", *on_set(kind), "--n", "200", "--d", "10")
    lower = lower_rows(text)
    assert [row[0] for row in lower] == list(LOWER)
    without_value = {row[0] for row in lower if row[1] == "-"}
    assert without_value >= NOT_HERE and not without_value & CUBES
    assert " ".join(text.split()).count(f"here they lie in {SETS[kind]}, which") == 1


def test_a_bound_that_is_larger_than_the_set_allows_is_neither_printed_nor_in_the_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("--n=20000", "--d=100000", "--p=50", "--rho=0.5", "--distribution=gaussian")
    text = printed(capsys, "bounds", "--all", *on_set("l1"), *words)
    assert "1.806" not in text
    document = json.loads(printed(capsys, "bounds", *on_set("l1"), *words, "--json"))
    lower = [row for row in document["bounds"] if row["kind"] == "lower"]
    values = {row["slug"]: row["value"] for row in lower}
    assert all(values[slug] is None for slug in NOT_HERE)
    assert not any(row["holds"] for row in lower if row["value"] is None)
    assert all(row["failures"] for row in lower if not row["holds"])
    # The centre has an error of at most 2, and coordinates with signs must fit into the set.
    assert 0 < max(values[slug] for slug in CUBES) < 0.1


@pytest.mark.parametrize("kind", SETS)
def test_a_run_omits_bounds_that_are_not_proven_on_its_set_and_says_so_once(
    capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    text = printed(capsys, "run", "--all", *on_set(kind), *SMALL)
    printed_rows = {row[0] for row in lower_rows(text)}
    assert printed_rows == CUBES - BELOW_TWO and "\nbound " in text
    assert "note: lower bounds that are not proven on this set are left out: " in text
    assert " ".join(text.split()).count(f"here they lie in {SETS[kind]}, which") == 1
    # The notes counted here are on what is proven; those on other libraries' settings stand before.
    assert text[text.index("\nWhat is proven") :].count("note: ") <= 4


def test_bounds_for_p_below_two_are_printed_only_for_such_data(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ("run", "--all", "--problem", "mean", *SMALL, "--p")
    heavy, light = (
        {row[0] for row in lower_rows(printed(capsys, *command, p))} for p in ("1.5", "3")
    )
    assert BELOW_TWO & {*LOWER} and BELOW_TWO & {*LOWER} <= heavy
    assert light and not BELOW_TWO & light


def test_a_reason_that_several_bounds_share_is_printed_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    swept = ("--axis", "n", "--grid", "100,200,400")
    text = " ".join(printed(capsys, "run", "--all", *SMALL, *swept).split())
    assert text.count("The bound is for an unrestricted mean") == 1


def test_a_run_with_a_zcdp_budget_prints_the_bounds_that_bind_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    budget = ("--rho", "0.5")
    text = printed(capsys, "run", "--all", *SMALL, *budget, "--method", "mean.clipped")
    assert "zCDP (rho=0.5)" in text and "lower.mean.gaussian" in text
    other_rows = [row for row in lower_rows(text) if {"pure", "delta)-DP"} & {*row}]
    assert lower_rows(text) and other_rows == []
    assert "lower bounds on pure DP or (epsilon, delta)-DP algorithms are left out" in text
    output = printed(capsys, "bounds", "--all", "--n", "200", "--d", "10", *budget)
    assert "lower.mean.fano-pure " in output
    document = json.loads(printed(capsys, "run", *SMALL, *budget, "--json"))
    assert any(row["slug"] == "lower.mean.fano-pure" for row in document["bounds"])


def test_a_pure_method_that_ran_keeps_the_bounds_on_pure_algorithms(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pure = ("--epsilon", "1", "--delta", "0", "--method", "mean.cwme-pure")
    text = printed(capsys, "run", "--all", *SMALL, *pure)
    assert "lower.mean.fano-pure " in text and "left out" not in text


@pytest.mark.parametrize(
    "words",
    [
        ("--problem", "quadratic", "--m", "100"),
        ("--problem", "quadratic", "--m", "100", "--axis", "n", "--grid", "200,400,800"),
        ("--problem", "logistic", "--method", "sco.cwme-strong", "--method", "sco.erm"),
        ("--delta", "0", "--method", "mean.clipped", "--method", "mean.cwme-pure"),
        ("--distribution", "hypercube", "--axis", "n", "--grid", "200,400,800"),
        ("--calibration", "paper", "--tuning", "theory"),
        *(("--problem", problem) for problem in PROBLEM_SLUGS),
        *(on_set(kind) for kind in SETS),
        ("--problem", "quadratic", "--geometry", "l1", "--delta", "0"),
        ("--problem", "mean", "--m", "50"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("length", [(), ("--all",)], ids=["short", "all"])
@pytest.mark.parametrize("name", ["run", "bounds"])
def test_every_table_fits_into_100_columns(
    capsys: pytest.CaptureFixture[str],
    name: str,
    length: tuple[str, ...],
    words: tuple[str, ...],
) -> None:
    text = printed(capsys, name, *SMALL, *length, *words)
    assert [line for line in text.splitlines() if len(line) > 100] == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", GEOMETRIES)
@pytest.mark.parametrize("problem", PROBLEM_SLUGS)
def test_every_table_fits_at_every_problem_and_geometry(
    capsys: pytest.CaptureFixture[str], problem: str, kind: str
) -> None:
    place = ("--problem", problem, *on_set(kind)[2:])
    for name in ("run", "bounds"):
        for length in ((), ("--all",)):
            text = printed(capsys, name, *SMALL, *length, *place)
            assert "\n" in text.strip()
            assert [line for line in text.splitlines() if len(line) > 100] == []


def test_a_cell_that_is_too_long_is_wrapped_and_complete() -> None:
    words = " ".join(f"word{i}" for i in range(40))
    text = format_table([["a name", words, "1"], ["b", "short", "2"]], ["name", "what", "x"])
    lines = text.splitlines()
    assert max(map(len, lines)) <= 100 and lines[1].startswith("a name  word0 ")
    assert " ".join(line[8:].rsplit("  ", 1)[0].strip() for line in lines[1:-1]) == words
    assert lines[-1].split() == ["b", "short", "2"]


def test_the_bounds_are_grouped_and_equal_ones_share_a_row(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = printed(capsys, "bounds")
    assert text.startswith("Upper bounds: Sample mean\n")
    assert "\nLower bounds: every (epsilon, delta)-DP algorithm\n" in text
    slugs = {line.split()[0] for line in text.splitlines() if line.strip()}
    quantities = {slug: card.quantity for slug, card in LOWER.items()}
    assert {quantities[slug] for slug in slugs & quantities.keys()} == {"l2 error"}
    folded = next(line for line in text.splitlines() if "values are folded" in line)
    cards = bounds_for("mean")
    assert int(folded.split()[1]) == len(cards) - len(slugs & {b.card.slug for b in cards})
    whole = printed(capsys, "bounds", "--all")
    assert all(f"\n{b.card.slug} " in f"\n{whole}" for b in cards)


def test_a_run_prints_the_floor_the_promise_and_fanos_bound_and_gives_advice(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = printed(capsys, "run", *SMALL)
    document = json.loads(printed(capsys, "bounds", *SMALL, "--json"))
    values = {row["slug"]: row["value"] for row in document["bounds"]}
    rows = {}
    for line in text.splitlines():
        if line.startswith(("floor on these data", "promise, best", "CDP Fano")):
            name, value, *_, slug = re.split(r" {2,}", line)
            rows[name] = (float(value), slug)
    assert [*rows] == [
        "floor on these data",
        "promise, best upper",
        "promise, best lower",
        "CDP Fano",
    ]
    assert all(value == pytest.approx(values[slug], rel=1e-3) for value, slug in rows.values())
    assert rows["promise, best lower"][0] < rows["promise, best upper"][0]
    (advice,) = (line for line in text.splitlines() if line.startswith("advice: "))
    match = re.match(r"advice: take (.*): it has the smallest", advice)
    means = {
        m[1]: float(m[2]) for m in re.finditer(r"^(\S.*?) {2,}([\d.]+) {2,}[\d.]+ to", text, re.M)
    }
    del means["Sample mean"]
    assert match and means[match[1]] == min(means.values())


CLASSES = {
    "none": "every algorithm, private or not",
    "approx": "every (epsilon, delta)-DP algorithm",
    "zcdp": "every zCDP algorithm",
    "pure": "every pure DP algorithm",
}


@pytest.mark.parametrize("budget", [(), ("--rho", "0.1"), ("--delta", "0")], ids=str)
def test_each_bound_of_a_run_names_the_algorithms_that_it_binds(
    capsys: pytest.CaptureFixture[str], budget: tuple[str, ...]
) -> None:
    cards = {row.card.slug: row.card for row in bounds_for("mean")}
    text = printed(capsys, "run", *SMALL, "--method", "mean.sample", *budget)
    part = text[text.index("\nWhat is proven") : text.index("\nnote: ")]
    lines = [line for line in part.splitlines() if line]
    assert max(map(len, text.splitlines())) <= 100
    for title in ("floor on these data", "promise, best lower", "CDP Fano", "pure-DP Fano"):
        for i, line in enumerate(lines):
            if line.startswith(title):
                slug = line.split()[-1]
                # A long cell continues on the next line, in its own column.
                cell = " ".join(" ".join(lines[i : i + 2]).split())
                words = CLASSES[cards[slug].privacy].split()
                assert set(words) <= set(cell.split()), (title, cell)


def test_a_sweep_names_the_bound_algorithms_once_and_without_a_varying_budget(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("run", *SMALL, "--method", "mean.sample", "--axis")
    by_n = " ".join(printed(capsys, *words, "n", "--grid", "200,400").split())
    assert "floor binds every (epsilon, delta)-DP algorithm; best lower binds every " in by_n
    assert "CDP Fano binds every zCDP algorithm (rho=0.02801)." in by_n
    assert "another (epsilon, delta)-DP algorithm may be below it" in by_n
    by_epsilon = " ".join(printed(capsys, *words, "epsilon", "--grid", "0.5,1").split())
    assert "CDP Fano binds every zCDP algorithm." in by_epsilon
