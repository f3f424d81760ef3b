"""The answer of `dpsco budget`: one line, printed before the numbers behind it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpsco_core.base.search import smallest
from dpsco_core.cli.tools import number

SAMPLERS = {"none": "no sampling", "fixed": "fixed batches", "poisson": "Poisson batches"}
ACCOUNTANTS = {"none": "exact accountant", "fixed": "RDP accountant", "poisson": "PLD accountant"}


@dataclass(frozen=True, kw_only=True)
class AnswerLine:
    """One line that answers a question about a budget, and the question in words."""

    line: str  # one line with the value, its neighbours, the sampling scheme and the accountant
    question: str

    def to_dict(self) -> dict[str, str]:
        """Return the answer's line and its question as a dictionary for JSON."""
        return {"line": self.line, "question": self.question}


def answer_of(numbers: Mapping[str, Any], sizes: Mapping[str, float | None]) -> AnswerLine:
    """Return the answer to the most specific question that the flags ask about a budget.

    Parameters
    ----------
    numbers : mapping
        All sections of the command, by their titles.
    sizes : mapping
        The flags, by their names: None where they were left out.
    """
    if sizes["noise-multiplier"] is not None and "noise" in numbers:
        return _answer_about_noise(numbers["noise"], "", sizes)
    budget = numbers["budget"]
    budget_text = (
        f"{number(budget['rho'])}-zCDP"
        if budget["kind"] == "zcdp"
        else f"epsilon {number(budget['epsilon'])}"
        + (" (pure DP)" if budget["kind"] == "pure" else f" and delta {number(budget['delta'])}")
    )
    if "allocation" in numbers:
        return _answer_about_allocation(numbers["allocation"], budget_text)
    if "batches" in numbers or "subsampling" in numbers:
        return _answer_about_batch(numbers, budget_text, sizes)
    if "shuffling" in numbers:
        return _answer_about_shuffling(numbers["shuffling"], budget_text, sizes)
    if "noise" in numbers:
        return _answer_about_noise(numbers["noise"], budget_text, sizes)
    return _answer_about_notion(numbers, budget_text, sizes)


def _answer_about_noise(
    noise: Mapping[str, Any], budget_text: str, sizes: Mapping[str, float | None]
) -> AnswerLine:
    """Return the answer on the noise that releases need or, if it is given, on what it costs."""
    sampling = noise["sampling"]
    ending = f"{SAMPLERS[sampling]}; {ACCOUNTANTS[sampling]}"
    names = {"replace-one": "replace_one", "add/remove": "add_remove"}
    values = {
        name: number(noise[f"noise_multiplier_{key}"])
        for name, key in names.items()
        if f"noise_multiplier_{key}" in noise
    }
    releases = _releases_text(noise["releases"])
    if sampling == "none":
        extent = "each on all records" if noise["releases"] > 1 else "on all records"
    else:
        batch, records = _format_count(sizes["batch"]), _format_count(sizes["records"])
        extent = f"each on a batch of {batch} of {records} records"
    if sizes["noise-multiplier"] is None:
        line = ", ".join(f"{value} ({name})" for name, value in values.items())
        question = f"the least noise that costs {budget_text} over {releases}, {extent}"
        return AnswerLine(line=f"noise multiplier {line}; {ending}", question=question)
    multiplier = number(sizes["noise-multiplier"])
    name = "add/remove" if "noise_multiplier_add_remove" in noise else "replace-one"
    removed = noise.get("epsilon_add_remove")
    removal_text = "" if removed is None else f", {number(removed)} (add/remove)"
    cost = f"epsilon {number(noise['epsilon'])} ({name}){removal_text}"
    question = (
        f"what a noise multiplier of {multiplier} costs at delta {number(noise['delta'])} over "
        f"{releases}, {extent}"
    )
    return AnswerLine(line=f"{cost}; {ending}", question=question)


def _answer_about_allocation(allocation: Mapping[str, Any], budget_text: str) -> AnswerLine:
    """Return the answer on records that are allocated to steps at random."""
    passes = allocation.get("passes", 1)
    count = (
        f"{_format_count(allocation['steps'])} steps"
        + f" in each of {_format_count(passes)} passes" * (passes > 1)
    )
    return AnswerLine(
        line=f"noise multiplier {number(allocation['noise_over_norm'])} (replace-one); "
        "random allocation; exact accountant",
        question=f"the noise that costs {budget_text} over {count}, each record at one secret step",
    )


def _answer_about_batch(
    numbers: Mapping[str, Any], budget_text: str, sizes: Mapping[str, float | None]
) -> AnswerLine:
    """Return the answer on releases on secret batches."""
    size, records = _format_count(sizes["batch"]), _format_count(sizes["records"])
    batch = f"a secret batch of {size} of {records} records"
    if "batches" in numbers:
        cost, releases = numbers["batches"], _releases_text(numbers["batches"]["releases"])
        qualifier, accountant = "at most ", ACCOUNTANTS["fixed"]
        question = f"what Gaussian noise worth {budget_text} costs over {releases}, each on {batch}"
    else:
        cost, qualifier, accountant = numbers["subsampling"], "", "exact mixture"
        question = f"what {budget_text} costs on {batch}"
    value = f"epsilon {qualifier}{number(cost['epsilon'])} at delta {number(cost['delta'])}"
    return AnswerLine(
        line=f"{value} (replace-one); {SAMPLERS['fixed']}; {accountant}", question=question
    )


def _answer_about_shuffling(
    rows: list[Mapping[str, Any]], budget_text: str, sizes: Mapping[str, float | None]
) -> AnswerLine:
    """Return the answer on shuffled records, by the proof that needs the least noise."""
    best = smallest(rows, lambda row: float(row["noise_multiplier"]), what="argument")
    # Replacing a record changes a sum by twice the largest norm.
    return AnswerLine(
        line=f"noise multiplier {number(2 * best['noise_multiplier'])} (replace-one); shuffled "
        f"records; argument: {best['argument']}",
        question=f"the noise on each of {_format_count(sizes['records'])} records in a secret "
        f"random order that costs {budget_text}",
    )


def _answer_about_notion(
    numbers: Mapping[str, Any], budget_text: str, sizes: Mapping[str, float | None]
) -> AnswerLine:
    """Return the answer on what a budget is in another notion, or what repeated releases cost."""
    budget = numbers["budget"]
    is_pure, ending = budget["kind"] == "pure", f"{SAMPLERS['none']}; {ACCOUNTANTS['none']}"
    rows = {row["conversion"]: row for row in numbers["conversions"]}
    at_delta = f"at delta {number(budget['delta'])} (replace-one)"
    if "composition" in numbers:
        [exact] = [row for row in numbers["composition"] if row["accounting"] == "exact"]
        epsilon, count = number(exact["epsilon"]), int(sizes["releases"] or 1)
        kind = "any pure-DP releases" if is_pure else "Gaussian releases"
        line = f"epsilon {epsilon} {at_delta}; {ending}"
        question = f"what {_releases_text(count)} of {budget_text} cost together: {kind}"
    elif is_pure:
        line = f"rho {number(rows['tight']['rho'])} of zCDP (replace-one); {ending}"
        question = f"the zCDP that {budget_text} implies"
    else:
        line = f"epsilon {number(rows['gaussian']['epsilon'])} {at_delta}; {ending}"
        mechanism_cost = number(rows["tight"]["epsilon"])
        question = (
            f"what Gaussian noise of {budget_text} costs; another mechanism of it costs "
            f"{mechanism_cost}"
        )
    return AnswerLine(line=line, question=question)


def _releases_text(count: int) -> str:
    """Return the words for a number of releases."""
    return "one release" if count == 1 else f"{count:,} releases"


def _format_count(value: float | None) -> str:
    """Return a count with separators, or an empty cell for None."""
    return "" if value is None else f"{int(value):,}"
