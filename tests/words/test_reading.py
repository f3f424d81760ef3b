"""A file of words that is broken is refused, in a sentence that names the file and the key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpsco_core.base.cards import SU_2023
from dpsco_core.base.errors import InvalidInput
from dpsco_core.explain.errata import su_runs
from dpsco_core.explain.errata.base import read_errata
from dpsco_core.methods.story import Proof, Story
from dpsco_core.words import reading
from dpsco_core.words.reading import read_words
from dpsco_core.words.stories import read_shared, read_story

STORY = r"""what = '''
Clips around $0$ for a rough
mean. @twice'''
steps = ["Clip.", "@twice"]
assumptions = ["A bounded moment."]
smooth = "no loss"
order = 'O(n\log d)'
cost = "Two passes."
when = "Where the mean is far."
pitfalls = ["A rough mean."]

[privacy]
sensitivity = "A record moves it by $2R/n$."
mechanism = "Gaussian noise."
composition = "The shares add up."

[example]
base = "small"
n = 500
"""
SHARED = """
[texts]
noise = "Add noise"
twice = "@noise; twice."

[examples.least]
n = 100
grid = [1.0, 2.0]

[examples.small]
base = "least"
d = 3
"""
ERRATUM = """
[[erratum]]
slug = "su.step"
statement = "Theorem 1"
severity = "misprint"
printed = "A sum."
wrong = '''
It is
a product.'''
instead = "A product."
modules = ["dpsco_core.methods"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder of words with one story, one paper and a file of what stories share."""
    monkeypatch.setattr(reading, "FOLDER", tmp_path)
    for name, text in (
        ("methods/mean/own.toml", STORY),
        ("methods/shared.toml", SHARED),
        ("errata/own.toml", ERRATUM),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    _forget()
    yield tmp_path
    _forget()


def _forget() -> None:
    """Forget all files that have been read."""
    read_story.cache_clear()
    read_shared.cache_clear()


def replace_once(path: Path, old: str, new: str) -> None:
    """Replace the only occurrence of a text in a file."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_story_has_the_texts_of_its_file(folder: Path) -> None:
    assert read_story("mean.own") == Story(
        what="Clips around $0$ for a rough mean. Add noise; twice.",
        steps=("Clip.", "Add noise; twice."),
        assumptions=("A bounded moment.",),
        privacy=Proof(
            sensitivity="A record moves it by $2R/n$.",
            mechanism="Gaussian noise.",
            composition="The shares add up.",
        ),
        smooth="no loss",
        order=r"O(n\log d)",
        cost="Two passes.",
        when="Where the mean is far.",
        pitfalls=("A rough mean.",),
        example={"n": 500, "grid": (1.0, 2.0), "d": 3},
    )
    assert read_story("mean.other") is None


def test_a_story_without_a_proof_has_none(folder: Path) -> None:
    path = folder / "methods/mean/own.toml"
    head, _, tail = path.read_text(encoding="utf-8").partition("[privacy]")
    path.write_text(head + "[example]" + tail.partition("[example]")[2], encoding="utf-8")
    story = read_story("mean.own")
    assert story is not None and story.privacy is None


# Each case has the change in a story, and the sentence of the refusal.
BROKEN = {
    "no TOML": ('"Two passes."', "Two passes.", "methods/mean/own.toml must be TOML, got"),
    "a missing key": ('cost = "Two passes."', "", "methods/mean/own.toml must .* got .*=no cost"),
    "an unknown key": ("cost =", "costs =", "got .*=no cost and an unknown costs"),
    "an empty text": ('"Two passes."', '" "', "own.toml, cost must be a text"),
    "an empty step": ('"Clip."', '""', "own.toml, steps, 1 must be a text"),
    "an empty list": ('["A rough mean."]', "[]", "own.toml, pitfalls must be a text, or a list"),
    "an open formula": ("2R/n$", "2R/n", "own.toml, privacy, sensitivity must be a text whose"),
    "a text for a list": ('["A rough mean."]', '"A rough mean."', "pitfalls must be a list"),
    "a list for a text": ('"Two passes."', '["Two passes."]', "own.toml, cost must be a text, got"),
    "a number for a text": ('"Two passes."', "2", "own.toml, cost must be a text, got"),
    "a number in a list": ('["A rough mean."]', "[1]", "pitfalls must be a list of texts"),
    "another word": ('"no loss"', '"very"', "own.toml, smooth must be one of"),
    "an unknown sentence": ('"Clip."', '"@thrice"', "steps, @thrice must be a name of a text"),
    "an unknown example": ('base = "small"', 'base = "large"', "example, base must be a name of"),
    "a part of a proof": ('mechanism = "Gaussian noise."', "", "privacy must .*=no mechanism"),
    "no words in a proof": ('"Gaussian noise."', "3", "privacy, mechanism must be a text"),
}


@pytest.mark.parametrize(("old", "new", "sentence"), BROKEN.values(), ids=BROKEN)
def test_a_broken_story_is_refused(folder: Path, old: str, new: str, sentence: str) -> None:
    replace_once(folder / "methods/mean/own.toml", old, new)
    with pytest.raises(InvalidInput, match=sentence) as error:
        read_story("mean.own")
    assert str(error.value).endswith(".") and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@noise;", "@twice;"),
        ('noise = "Add noise"', 'noise = "@twice"'),
        ('base = "least"', 'base = "small"'),
    ],
)
def test_a_shared_text_includes_only_texts_above_it(folder: Path, old: str, new: str) -> None:
    replace_once(folder / "methods/shared.toml", old, new)
    with pytest.raises(InvalidInput, match="methods/shared.toml, .* must be a name of"):
        read_story("mean.own")


def test_an_erratum_has_the_texts_of_its_file(folder: Path) -> None:
    (entry,) = read_errata("errata/own.toml", SU_2023, su_runs)
    assert (entry.slug, entry.severity, entry.wrong) == ("su.step", "misprint", "It is a product.")
    assert entry.paper is SU_2023 and entry.experiment is None


BROKEN_ERRATA: dict[str, Any] = {
    "a missing key": ('instead = "A product."', "", "su.step must .*=no instead"),
    "an unknown key": ("instead =", "Instead =", "su.step must .*=no instead and an unknown"),
    "an open formula": ("A sum.", "A sum $x.", r"printed must be a text whose formulas"),
    "a name without a run": ("modules =", 'experiment = "A."\nmodules =', "su.step must .*=no run"),
    "a run without a name": ("modules =", 'run = "one"\nmodules =', "su.step must .*=no experi"),
    "an unknown run": (
        "modules =",
        'experiment = "A."\nrun = "nothing"\ninputs = "a"\nmodules =',
        "su.step, run must be a function of dpsco_core.explain.errata.su_runs, got",
    ),
    "another severity": ('"misprint"', '"grave"', "severity must be one of"),
}


@pytest.mark.parametrize(("old", "new", "sentence"), BROKEN_ERRATA.values(), ids=BROKEN_ERRATA)
def test_a_broken_erratum_is_refused(folder: Path, old: str, new: str, sentence: str) -> None:
    replace_once(folder / "errata/own.toml", old, new)
    with pytest.raises(InvalidInput, match=sentence):
        read_errata("errata/own.toml", SU_2023, su_runs)


def test_a_broken_line_is_a_space(folder: Path) -> None:
    (folder / "own.toml").write_text("a = '''\nOne\ntwo.\n'''\nb = ['''\nThree\nfour''']\nc = 2\n")
    assert read_words("own.toml") == {"a": "One two.", "b": ["Three four"], "c": 2}
