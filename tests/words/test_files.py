"""The files of words: each is of something, says it once, is in the wheel, and is opened late."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from dpsco_core.catalogue import METHOD_SLUGS
from dpsco_core.words import reading
from dpsco_core.words.stories import NAME, read_shared, read_story

ROOT = Path(__file__).resolve().parents[2]
STORIES = reading.FOLDER / "methods"
FILES = sorted(path for path in STORIES.rglob("*.toml") if path.name != "shared.toml")
LONG = 100  # A text of at least this number of characters may occur only once.
# The program imports a module, then prints which of the files of words were opened.
OPENED = """
import sys
opened = set()
sys.addaudithook(lambda event, args: event == "open" and opened.add(str(args[0])))
{}
print(*(name for name in opened if name.endswith(".toml") and "words" in name))
"""


def texts(value: Any) -> Iterator[str]:
    """Yield all strings in a value of TOML, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)


def find_repeats(stories: list[dict[str, Any]], sentences: dict[str, str]) -> list[str]:
    """Return the long texts that stand in several stories, or are those of a shared sentence."""
    counts = Counter(text.strip() for story in stories for text in {*texts(story)})
    repeats = [text for text, count in counts.items() if count > 1 and len(text) >= LONG]
    return repeats + [text for text in counts if len(text) >= LONG and text in sentences.values()]


def stories() -> list[dict[str, Any]]:
    """Return the contents of all files of stories."""
    return [tomllib.loads(path.read_text(encoding="utf-8")) for path in FILES]


def shared_tables() -> dict[str, Any]:
    """Return the tables that the stories share."""
    return tomllib.loads((STORIES / "shared.toml").read_text(encoding="utf-8"))


def test_every_file_is_the_story_of_a_method() -> None:
    slugs = {".".join(path.relative_to(STORIES).with_suffix("").parts) for path in FILES}
    assert slugs and slugs <= set(METHOD_SLUGS)


def test_a_long_sentence_is_written_once() -> None:
    sentences = {name: text.strip() for name, text in shared_tables()["texts"].items()}
    assert find_repeats(stories(), sentences) == []
    assert find_repeats([{"what": "a" * LONG}, {"cost": ["a" * LONG]}], {}) == ["a" * LONG]
    assert find_repeats([{"what": "b" * LONG}], {"name": "b" * LONG}) == ["b" * LONG]


def test_a_shared_sentence_is_used_by_several_texts_or_examples() -> None:
    tables = [*stories(), shared_tables()["texts"]]
    names = Counter(name for text in texts(tables) for name in NAME.findall(text))
    assert [name for name in shared_tables()["texts"] if names[name] < 2] == []
    examples = [story["example"] for story in stories()] + [*shared_tables()["examples"].values()]
    bases = Counter(example.get("base") for example in examples)
    assert [name for name in shared_tables()["examples"] if bases[name] < 2] == []


def test_no_name_of_a_shared_sentence_is_left_in_a_text() -> None:
    sentences, _ = read_shared()
    tales = [str(read_story(slug)) for slug in METHOD_SLUGS]
    assert not [text for text in [*sentences.values(), *tales] if "@" in text]


def files_opened(code: str) -> list[str]:
    """Return the names of the files of words that a process opens when it runs some code."""
    process = subprocess.run(
        [sys.executable, "-c", OPENED.format(code)], capture_output=True, text=True, check=True
    )
    return sorted(re.findall(r"[\w-]+\.toml", process.stdout.splitlines()[-1]))


def test_no_file_is_opened_before_its_text_is_asked_for() -> None:
    load = "import dpsco_core, dpsco_core.catalogue, dpsco_core.explain.methods.stories as stories"
    usage = "from dpsco_core.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass"
    assert files_opened(f"{load}\n{usage}") == []
    assert files_opened(f"{load}\nstories.story('mean.clipped')") == ["clipped.toml", "shared.toml"]


def test_the_wheel_has_every_file() -> None:
    """Hatch packs every file of a package's folder, except those that git ignores or the target
    leaves out.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert "dpsco_core" in wheel["packages"] and set(wheel) == {"packages", "force-include"}
    assert set(project["tool"]["hatch"]["build"]) == {"targets"}
    lines = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    patterns = [line.strip().strip("/") for line in lines if line and not line.startswith("#")]
    files = [path.relative_to(ROOT) for path in reading.FOLDER.rglob("*.toml")]
    assert len(files) > len(FILES)
    for path in files:
        parts = (path.as_posix(), *path.parts)
        assert not any(fnmatch(part, pattern) for part in parts for pattern in patterns), path
