"""The recipes of CONTRIBUTING.md as printed, walked in a copy of the tree.

A newcomer adds the code of the documents, touches so many files and no more, and every suite that
sees what was added passes at once.
"""

from __future__ import annotations

import filecmp
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import newcomer_code
from tests.printed_code import DOCSTRING, EXTEND, code, section
from tests.test_architecture import crowded

ROOT = Path(__file__).resolve().parents[1]
LEFT = shutil.ignore_patterns(
    ".git", ".venv*", "build", "dist", "test-results", "__pycache__", ".*_cache", ".hypothesis"
)
Edit = Callable[[str], str]
NUMBERS = {3: "Three", 4: "Four"}
MOST_LINES = 90  # The largest number of lines of an optimiser that is made of parts.


def insert_before(mark: str, line: str) -> Edit:
    """Return the edit that adds a line above the first one that begins with `mark`."""
    return lambda text: re.sub(rf"^(?={re.escape(mark)})", f"{line}\n", text, count=1, flags=re.M)


def each_of(*edits: Edit) -> Edit:
    """Return the edit that makes all of these edits in order."""

    def edit(text: str) -> str:
        """Make all edits of a text in order."""
        for step in edits:
            text = step(text)
        return text

    return edit


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What a newcomer adds: new files, a line or two in some others, and what is then run."""

    title: str  # The title of the recipe's section.
    kind: str = ""  # The kind distinguishes two recipes of one section.
    most: int  # The largest number of files that the recipe adds, including tests.
    files: Mapping[str, str]
    lines: Mapping[str, Edit]
    whole: tuple[str, ...]  # Test suites that are run completely.
    named: tuple[str, ...]  # Test suites of which only tests that name the addition are run.
    seen_by: int  # The least number of tests that name the addition.
    writes: tuple[str, ...] = ()  # The files that the command of the recipe writes.

    def __str__(self) -> str:
        """Return the title, with the kind where there is one."""
        return f"{self.title}, {self.kind}" if self.kind else self.title


# The tests of docs/extend.md add rows with the names printed there, so other names are used here.
BOUND = (
    code(EXTEND, "my_bound.py")
    .replace("BOUNDS =", "WALKED_BOUNDS =")
    .replace("upper.mean.recentred", "upper.mean.clipped-walked")
    .replace("mean.recentred", "mean.clipped")
    .replace("privacy=", 'tables=("kamath",),\n            privacy=')
)
LAW = (
    code(EXTEND, "my_law.py")
    .removesuffix("\n\nDISTRIBUTIONS = (Weibull,)\n")
    .replace('"weibull"', '"walked"')
)
BOUND_TEST = """
import pytest

from dpsco_core.catalogue import bound
from dpsco_core.privacy import ZCDP
from tests.bounds.helpers import make_setting


def test_it_is_the_sum_of_its_terms() -> None:
    at = make_setting(n=400, d=4, order=2.0, budget=ZCDP(rho=0.25))
    assert bound("upper.mean.clipped-walked").value(at) == pytest.approx(0.1 + 0.02)
"""
LAW_TEST = """
import pytest
from scipy.integrate import quad

from dpsco_core.data import Weibull


def test_its_moment_is_the_integral_of_its_density() -> None:
    law = Weibull(d=1, moment_order=3.0)
    inside = quad(lambda x: 2 * x**3 * law.univariate.density(x), 0, 400, limit=400)[0]
    assert inside == pytest.approx(1, rel=1e-4)
"""
PAGE_TEST = """
from tests.app.pages import headline_text
from tests.app.places.test_one_run import open_at


def test_it_says_what_the_budget_is_worth() -> None:
    page = open_at("budget", rho="0.25", epsilon="", delta="")
    assert not page.exception
    assert headline_text(page).endswith("one Gaussian release with ρ = 0.25")
"""
LINT = ("tests/test_architecture.py", "tests/test_names.py", "tests/test_citations.py")
BOUND_LINES = {
    "dpsco_core/bounds/mean/rows.py": each_of(
        insert_before("\nLOWER_MEAN", "from dpsco_core.bounds.mean.walked import WALKED_BOUNDS"),
        insert_before(")\nMEAN_BOUNDS", "    *WALKED_BOUNDS,"),
    ),
}
RECIPES = (
    Recipe(
        title="Add a method",
        most=3,
        files={
            "dpsco_core/methods/mean/walked.py": newcomer_code.METHOD,
            "tests/methods/mean/test_walked.py": newcomer_code.METHOD_TEST,
        },
        lines={
            "dpsco_core/methods/mean/__init__.py": each_of(
                insert_before("\n# The order", "from dpsco_core.methods.mean.walked import Walked"),
                insert_before(")\n\n__all__", "    Walked,"),
                insert_before("]\n", '    "Walked",'),
            ),
        },
        whole=(
            *LINT,
            "tests/explain/test_stories.py",
            "tests/trust/test_verification.py",
            "tests/app/places/test_methods.py::test_every_example_leads_with_its_method",
        ),
        named=(
            "tests/methods",
            "tests/trust",
            "tests/test_catalogue.py",
            "tests/explain",
            "tests/runs",
            "tests/results",
            "tests/audit",
        ),
        seen_by=25,
        writes=("docs/verification.md",),
    ),
    Recipe(
        title="Add a method",
        kind="optimiser",
        most=3,
        files={
            "dpsco_core/methods/euclidean/walked.py": newcomer_code.OPTIMISER,
            "tests/methods/euclidean/test_walked.py": newcomer_code.OPTIMISER_TEST,
        },
        lines={
            "dpsco_core/methods/euclidean/__init__.py": each_of(
                insert_before(
                    "\n# The order", "from dpsco_core.methods.euclidean.walked import Walked"
                ),
                insert_before(")\n\n__all__", "    Walked,"),
                insert_before("]\n", '    "Walked",'),
            ),
        },
        whole=(*LINT, "tests/trust/test_verification.py"),
        named=("tests/methods", "tests/trust", "tests/test_catalogue.py", "tests/audit"),
        seen_by=20,
        writes=("docs/verification.md",),
    ),
    Recipe(
        title="Add a bound",
        most=3,
        files={
            "dpsco_core/bounds/mean/walked.py": DOCSTRING + BOUND,
            "tests/bounds/test_walked.py": DOCSTRING + BOUND_TEST,
        },
        lines=BOUND_LINES,
        whole=(
            *LINT,
            "tests/test_catalogue.py",
            "tests/trust/test_verification.py",
            "tests/explain/test_tables.py",
        ),
        named=("tests/bounds", "tests/trust"),
        seen_by=5,
    ),
    Recipe(
        title="Add a bound",
        kind="explicit",
        most=3,
        files={
            "dpsco_core/bounds/mean/walked.py": newcomer_code.EXPLICIT,
            "tests/bounds/test_walked.py": newcomer_code.EXPLICIT_TEST,
        },
        lines=BOUND_LINES,
        whole=(
            *LINT,
            "tests/bounds/test_classes.py",
            "tests/trust/test_independent.py",
            "tests/trust/test_theory.py",
            "tests/trust/test_verification.py",
            "tests/explain/test_tables.py",
        ),
        named=("tests/bounds", "tests/test_catalogue.py"),
        seen_by=5,
        writes=("docs/verification.md",),
    ),
    Recipe(
        title="Add a problem",
        most=3,
        files={
            "dpsco_core/problems/walked.py": newcomer_code.PROBLEM,
            "tests/problems/test_walked.py": newcomer_code.PROBLEM_TEST,
        },
        lines={
            "dpsco_core/problems/__init__.py": each_of(
                insert_before(
                    "\nOPTIMISATION_PROBLEMS", "from dpsco_core.problems.walked import Walked"
                ),
                insert_before(")\nSCO_PROBLEMS", "    Walked,"),
                insert_before("]\n", '    "Walked",'),
            ),
        },
        whole=(
            *LINT,
            "tests/bounds/euclidean/test_rows.py",
            "tests/problems/test_excess.py",
            "tests/test_scenario.py",
        ),
        named=(
            "tests/app/places",
            "tests/base",
            "tests/cli",
            "tests/explain",
            "tests/methods",
            "tests/problems",
        ),
        seen_by=150,
    ),
    Recipe(
        title="Add a law",
        most=3,
        files={
            "dpsco_core/data/walked.py": DOCSTRING + LAW,
            "tests/data/test_walked.py": DOCSTRING + LAW_TEST,
        },
        lines={
            "dpsco_core/data/__init__.py": each_of(
                insert_before("\nDISTRIBUTIONS", "from dpsco_core.data.walked import Weibull"),
                insert_before(")\n\n__all__", "    Weibull,"),
                insert_before("]\n", '    "Weibull",'),
            ),
        },
        whole=LINT,
        named=("tests/data", "tests/test_catalogue.py", "tests/problems"),
        seen_by=60,
    ),
    Recipe(
        title="Add a page",
        most=4,
        files={
            "dpsco_app/pages/budget.py": code(section("Add a page")),
            "tests/app/places/test_walked.py": DOCSTRING + PAGE_TEST,
        },
        lines={
            "dpsco_app/shell/main.py": each_of(
                insert_before("from dpsco_app.pages.bounds", "from dpsco_app.pages import budget"),
                insert_before('    "why": why.page', '    "budget": budget.page,'),
            ),
            "dpsco_app/shell/names.py": insert_before(
                '    "geometry": "G', '    "budget": "Budget",'
            ),
        },
        whole=(*LINT, "tests/app/test_imports.py", "tests/app/parts/test_glossary.py"),
        named=("tests/app/places/test_walked.py",),
        seen_by=1,
    ),
)


def walked(recipe: Recipe, folder: Path) -> Path:
    """Copy the tree into a folder, and follow the recipe in the copy; return its path."""
    copy = folder / "tree"
    shutil.copytree(ROOT, copy, ignore=LEFT)
    for name, text in recipe.files.items():
        assert not (copy / name).exists()
        (copy / name).write_text(text, encoding="utf-8")
    for name, edit in recipe.lines.items():
        text = (copy / name).read_text(encoding="utf-8")
        edited = edit(text)
        assert edited != text, name
        (copy / name).write_text(edited, encoding="utf-8")
    return copy


def touched(copy: Path) -> set[str]:
    """Return the names of the files of a copy that the tree does not have, or has with another
    content.
    """
    files = [path.relative_to(copy) for path in copy.rglob("*") if path.is_file()]
    return {
        str(name)
        for name in files
        if not {"__pycache__", "test-results", ".hypothesis"}.intersection(name.parts)
        and not ((ROOT / name).exists() and filecmp.cmp(ROOT / name, copy / name, shallow=False))
    }


def run(copy: Path, *arguments: str, **variables: str) -> str:
    """Run pytest in the copy, assert that every test passes, and return what pytest prints."""
    child = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stdout[-3000:] + child.stderr[-1000:]
    return child.stdout


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_a_recipe_says_how_many_files_it_takes_and_names_them(recipe: Recipe) -> None:
    text = section(recipe.title)
    assert text.split()[0] == NUMBERS[recipe.most]
    for name in recipe.lines:
        assert any(f"`{one}`" in text for one in (name, Path(name).name)), name


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_the_folders_have_room_for_what_a_recipe_adds(recipe: Recipe) -> None:
    files = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("dpsco_*/**/*.py")]
    assert crowded([*files, *(name for name in recipe.files if name.startswith("dpsco_"))]) == []


# Explicit bounds are added like rates, and optimisers like estimators, so those recipes are in the
# slow suite.
QUICK = [pytest.param(r, marks=[pytest.mark.slow] * bool(r.kind)) for r in RECIPES]


@pytest.mark.parametrize("recipe", QUICK, ids=str)
def test_what_a_newcomer_adds_works_and_is_in_so_many_files(recipe: Recipe, tmp_path: Path) -> None:
    copy = walked(recipe, tmp_path)
    assert touched(copy) == {*recipe.files, *recipe.lines}
    assert len(touched(copy)) <= recipe.most
    run(copy, next(name for name in recipe.files if name.startswith("tests/")))


def test_an_optimiser_is_added_in_few_lines_its_story_included() -> None:
    assert len(newcomer_code.OPTIMISER.splitlines()) <= MOST_LINES


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_whoever_follows_a_recipe_passes_every_suite_at_once(
    recipe: Recipe, tmp_path: Path
) -> None:
    copy = walked(recipe, tmp_path)
    for path in recipe.writes:
        assert path in section(recipe.title)
        run(copy, "tests/trust/test_verification.py", WRITE_VERIFICATION="1")
    assert touched(copy) == {*recipe.files, *recipe.lines, *recipe.writes}
    run(copy, *recipe.whole)
    names = ("-m", "slow or not slow", "-k=walked")
    (passed,) = re.findall(r"(\d+) passed", run(copy, *recipe.named, *names))
    assert int(passed) >= recipe.seen_by


@pytest.mark.slow
def test_what_a_newcomer_adds_has_the_types_that_make_test_asks_for(tmp_path: Path) -> None:
    files = [text for r in RECIPES for name, text in r.files.items() if name.startswith("dpsco")]
    for i, text in enumerate(files):
        (tmp_path / f"walked_{i}.py").write_text(text, encoding="utf-8")
    child = subprocess.run(
        [sys.executable, "-m", "mypy", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stdout
