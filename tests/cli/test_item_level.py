"""`dpsco run --item-level` shows beside users what it would cost to protect each item alone."""

from __future__ import annotations

import json

import pytest

from dpsco_core.catalogue import method_card
from dpsco_core.cli.main import main

USERS = ("run", "--n", "400", "--d", "3", "--m", "5", "--trials", "2", "--workers", "1")
USERS = (*USERS, "--method", "user.mean-clipped")


def test_the_item_level_line_is_the_run_of_as_many_records(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*USERS, "--item-level", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    items = document["item_level"]
    fields = items["scenario"]
    assert (fields["n"], fields["m"]) == (2000, 1)
    methods = [row["method"] for row in items["results"]]
    assert methods and all(method_card(slug).level == "item" for slug in methods)
    words = [word for slug in methods for word in ("--method", slug)]
    assert main(["run", "--n", "2000", "--d", "3", "--trials", "2", *words, "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)["results"]
    for row, plain in zip(items["results"], expected, strict=True):
        assert (
            row["mean_error"] == plain["mean_error"] and row["neighbours"] == "replace one record"
        )
    # The error for hiding a whole user is larger than that for hiding one of her items.
    errors = [row["mean_error"] for row in items["results"]]
    assert document["results"][0]["mean_error"] > min(errors)


def test_the_table_says_what_is_protected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*USERS, "--item-level"]) == 0
    text = capsys.readouterr().out
    assert "Privacy of each item instead: n = 2,000 records of the same law\n" in text
    assert "whoever gives 5 of them is protected" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 100
    assert main(list(USERS)) == 0
    assert "each item" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--m 1 --method mean.clipped", "m must be above 1 with item-level, got m=1."),
        ("--axis n --grid 100,200", "axis must be left out beside item-level, got axis=n."),
        ("--alike 0.5", "alike must be 0 with item-level: items are records, got alike=0.5."),
        (
            "--distribution hypercube",
            "distribution must be one that does not depend on n with item-level, got "
            "distribution=hypercube.",
        ),
    ],
)
def test_what_has_no_item_level_line_is_refused(
    capsys: pytest.CaptureFixture[str], flags: str, message: str
) -> None:
    words = USERS if "mean.clipped" not in flags else USERS[:-2]
    assert main([*words, "--item-level", *flags.split()]) == 2
    assert capsys.readouterr().err == f"dpsco: {message}\n"
