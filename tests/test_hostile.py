"""A method, a bound or a law of somebody's own that fails takes nothing else with it.

Each file runs in a process of its own, so that the catalogue of the other tests stays.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_extend import BLOCKS, BOUND, LAW, METHOD, run_commands

TERMS = "    n, d, rho = setting.n, setting.d, setting.gaussian_rho\n"
# Each fault of a bound has the first line of its formula, and a part of the sentence that reports
# it.
BOUNDS = {
    "divides by zero": ("    return {'noise': 1 / (setting.n - 10_000)}\n", "ZeroDivisionError"),
    "is no number": ("    return {'noise': float('nan')}\n", "nan"),
    "is text": ("    return {'noise': 'large'}\n", "'large'"),
    "is negative": ("    return {'noise': -1.0}\n", "at least 0"),
    "has no terms": ("    return {}\n", "no term"),
    "is nothing": ("    return None\n", "TypeError"),
    "is complex": ("    return {'noise': 1j}\n", "1j"),
    "is too large for a float": ("    return {'noise': 10 ** 400}\n", "is no number"),
    "recurses": ("    return terms(setting)\n", "RecursionError"),
    "exits": ("    raise SystemExit(3)\n", "SystemExit"),
    "asks for what is not there": ("    return {'noise': setting.nothing}\n", "AttributeError"),
    "fails in its error's text": (
        "    class Mute(Exception):\n        def __str__(self): raise KeyError\n    raise Mute\n",
        "Mute",
    ),
}
RELEASE = "        check_rows(rows, plan.setting)\n"
# Each fault is of an estimator's release, or (after "plan:") of its plan.
METHODS = {
    "divides by zero": (RELEASE, "        1 / 0\n", "ZeroDivisionError in line"),
    "fails at one trial": (RELEASE, "        assert rng.random() < 0.6\n", "AssertionError"),
    "gives nothing": (RELEASE, "        return None\n", "NoneType"),
    "gives NaN": (
        "        return Release(value=mean,",
        "        return Release(value=mean * np.nan,",
        "finite",
    ),
    "gives the wrong shape": (
        "        return Release(value=mean,",
        "        return Release(value=mean[:3],",
        "got shape (3,)",
    ),
    "gives a list": (
        "        return Release(value=mean,",
        "        return Release(value=list(mean),",
        "list",
    ),
    "books a broken sensitivity": (
        "        sensitivity = 2 * radius / rows.n",
        "        sensitivity = float('nan')",
        "sensitivity",
    ),
    "plans by zero": (
        "        radius = 2 * np.sqrt(setting.d)\n",
        "        radius = 1 // 0\n",
        "ZeroDivisionError",
    ),
    "plans nothing": ("        radius = 2 * np.sqrt(setting.d)\n", "        return 7\n", "int"),
}
# Each fault of a law has the line to replace, the broken line, and a word of the error.
LAWS = {
    "has no moment": ("math.lgamma(1 + 2 * k)", "1 / 0", "ZeroDivisionError"),
    "has moments that are no numbers": ("math.lgamma(1 + 2 * k)", "math.nan", "nan"),
    "draws what is not finite": ("out **= 2", "out[:] = np.nan", "not finite"),
    "cannot draw": ("out **= 2", "raise OSError('no entropy')", "no entropy"),
    "has a light tail index": ("return math.inf", "return 'heavy'", "heavy"),
    "has another coordinate": ("Coordinate(scale=self", "Coordinate(scale=3 * self", "not the law"),
    "has a coordinate that fails": ("tail = np.exp(-self._root(x)) / 2", "1 / 0", "ZeroDivision"),
    "has no coordinate": ("return Coordinate(scale=self.scale)", "return 7", "no Univariate"),
}
COMMON = ("--n=10000", "--d=20", "--trials=3", "--workers=1")
# This program opens Explore with the added rows, and the other pages that show methods and bounds.
PAGES = """
import json, sys
from dpsco_core.plugins import extend
for name in sys.argv[2:]:
    extend.load(name)
import streamlit as st
from dpsco_app.pages.explore import page as explore
from dpsco_app.parts import folding
from dpsco_app.shell.window import arrive
from tests.app.pages import open_page, written_text
from tests.app.places.test_one_run import open_at
folding.is_open = lambda _: True  # as for a visitor who has opened everything
explore.when_there = lambda: (arrive(), st.rerun())
read = []
for query in json.loads(sys.argv[1]):
    place = query.pop("place", "")
    page = open_at(place, **query) if place else open_page(**query)
    read.append("\\n".join([written_text(page), *(e.proto.body for e in page.get("html"))]))
print(json.dumps(read))
"""


def broken(name: str, old: str, new: str) -> str:
    """Return a file of the documentation with a line that is broken."""
    text = BLOCKS[name]
    assert old in text
    return text.replace(old, new, 1)


def slug_of(fault: str, slug: str) -> str:
    """Return the slug of a plugin with a fault."""
    return f"{slug}-{fault.lower().replace(' ', '-').replace(chr(39), '')}"


def sentences(answer: tuple[int, str, str]) -> str:
    """Return the error that a command printed in one line; the command must have failed."""
    status, out, err = answer
    assert status == 2, (out, err)
    (line,) = err.strip().splitlines()
    assert line.startswith("dpsco: ") and line.endswith(").") and "Traceback" not in line
    return line


def write_bounds(folder: Path) -> tuple[str, ...]:
    """Write a file for each broken bound; return the flags that load them."""
    for fault, (line, _) in BOUNDS.items():
        text = broken("my_bound.py", TERMS, line).replace('method="mean.recentred"', 'method=""')
        slug = slug_of(fault, BOUND)
        (folder / f"{slug}.py").write_text(text.replace(BOUND, slug), encoding="utf-8")
    return tuple(f"--with={slug_of(fault, BOUND)}.py" for fault in BOUNDS)


def test_failing_bounds_are_reported_in_a_sentence_each_and_the_other_rows_printed(
    tmp_path: Path,
) -> None:
    options = (*COMMON[:2], *write_bounds(tmp_path))
    plain, as_json = run_commands(
        tmp_path, ("bounds", "--all", *options), ("bounds", "--json", *options)
    )
    line, out = sentences(plain), plain[1]
    assert "lower.mean.fano-cdp" in out
    assert sentences(as_json) == line
    rows = {row["slug"]: row for row in json.loads(as_json[1])["bounds"]}
    assert rows["lower.mean.fano-cdp"]["value"] > 0
    for fault, (_, sentence) in BOUNDS.items():
        slug = slug_of(fault, BOUND)
        (sentence_of_row,) = rows[slug]["failures"]
        assert rows[slug]["value"] is None
        assert sentence_of_row in line and sentence_of_row in " ".join(out.split())
        assert f"bound={slug} of {slug}.py" in sentence_of_row and sentence in sentence_of_row, (
            sentence_of_row
        )


def test_failing_methods_are_reported_in_a_sentence_each_and_the_other_rows_printed(
    tmp_path: Path,
) -> None:
    slugs = [slug_of(fault, METHOD) for fault in METHODS]
    for slug, (old, new, _) in zip(slugs, METHODS.values(), strict=True):
        text = broken("my_mean.py", old, new).replace(METHOD, slug)
        (tmp_path / f"{slug}.py").write_text(text, encoding="utf-8")
    options = ("run", *COMMON, "--method=mean.sample", *(f"--method={slug}" for slug in slugs))
    options = (*options, *(f"--with={slug}.py" for slug in slugs))
    plain, as_json = run_commands(tmp_path, (*options, "--all"), (*options, "--json"))
    line, out = sentences(plain), plain[1]
    assert "Sample mean" in out and "lower.mean.fano-cdp" in out
    assert sentences(as_json) == line
    sample, *failed_rows = json.loads(as_json[1])["results"]
    assert sample["mean_error"] > 0 and sample["not_applicable"] is None
    for row, slug, (_, _, sentence) in zip(failed_rows, slugs, METHODS.values(), strict=True):
        assert row["mean_error"] is None and row["trials"] == 0
        sentence_of_row = row["not_applicable"]
        assert sentence_of_row in line and sentence_of_row in " ".join(out.split())
        assert f"method={slug} of {slug}.py" in sentence_of_row and sentence in sentence_of_row, (
            sentence_of_row
        )


def test_a_failed_cell_is_not_stored_and_runs_again_once_its_code_is_corrected(
    tmp_path: Path,
) -> None:
    old, new, sentence = METHODS["divides by zero"]
    (tmp_path / "my_mean.py").write_text(broken("my_mean.py", old, new))
    (tmp_path / "study.toml").write_text(f'methods = ["mean.sample", "{METHOD}"]\ntrials = 3\n')
    ((status, out, err),) = run_commands(
        tmp_path, ("study", "study.toml", "--out=a.sqlite", "--with=my_mean.py")
    )
    progress, problem = err.splitlines()
    assert progress == "6 runs to do."
    assert sentence in sentences((status, out, problem))
    assert "\n3 runs of this study are in a.sqlite." in out


def test_a_failing_law_is_reported_in_one_sentence(tmp_path: Path) -> None:
    commands = []
    for fault, (old, new, _) in LAWS.items():
        slug = slug_of(fault, LAW)
        text = "import numpy as np\n" + broken("my_law.py", old, new).replace(LAW, slug)
        (tmp_path / f"{slug}.py").write_text(text, encoding="utf-8")
        options = (f"--distribution={slug}", f"--with={slug}.py")
        commands += [("run", *COMMON, *options), ("bounds", *COMMON[:2], *options)]
    answers = run_commands(tmp_path, *commands)
    for (fault, (_, _, sentence)), run_answer, bounds_answer in zip(
        LAWS.items(), answers[::2], answers[1::2], strict=True
    ):
        slug = slug_of(fault, LAW)
        for sentence_of_row in (sentences(run_answer), sentences(bounds_answer)):
            assert (
                f"distribution={slug} of {slug}.py" in sentence_of_row
                and sentence in sentence_of_row
            ), sentence_of_row


def opened(folder: Path, files: tuple[str, ...], *queries: dict[str, str]) -> list[str]:
    """Return the text that each of the pages writes, which must not contain an exception."""
    command = [sys.executable, "-c", PAGES, json.dumps(queries), *files]
    child = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    return list(json.loads(child.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "queries",
    [
        ({"place": "bounds"},),
        pytest.param(
            (
                {"place": "methods"},
                {"place": "privacy"},
                {"place": "who_wins", "reading": "rates"},
            ),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["bounds", "other places"],
)
def test_a_bound_and_a_method_that_fail_leave_the_rest_of_the_page_intact(
    tmp_path: Path, queries: tuple[dict[str, str], ...]
) -> None:
    (tmp_path / "my_mean.py").write_text(broken("my_mean.py", *METHODS["divides by zero"][:2]))
    line, _ = BOUNDS["divides by zero"]
    (tmp_path / "my_bound.py").write_text(broken("my_bound.py", TERMS, line))
    query = {"methods": f"mean.sample,mean.clipped,{METHOD}", "n": "10000", "grid": "5000,10000"}
    explore, *texts = opened(
        tmp_path,
        ("my_mean.py", "my_bound.py"),
        query | {"show": "lower bounds,upper bounds,rates", "bound": BOUND},
        *(query | other for other in queries),
    )
    assert ">simple clipping</b>, against the" in explore
    assert "of my_mean.py (ZeroDivisionError in line" in explore, explore
    assert all(len(text) > 500 for text in texts)


def test_on_the_dashboard_a_law_that_fails_is_said_where_its_scenario_is_refused(
    tmp_path: Path,
) -> None:
    old, new, sentence = LAWS["has no moment"]
    (tmp_path / "my_law.py").write_text(broken("my_law.py", old, new))
    (text,) = opened(tmp_path, ("my_law.py",), {"distribution": LAW})
    assert f"distribution={LAW} of my\\_law.py ({sentence}" in text, text
