"""The stories of the methods that are built in, with the sentences that several of them share."""

import re
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any, get_args, get_type_hints

from dpsco_core.base.errors import require
from dpsco_core.methods.story import Proof, Smooth, Story
from dpsco_core.words.reading import check_keys, has_words, read_words

SHARED = "methods/shared.toml"
# In a text, @name stands for the shared sentence of that name.
NAME = re.compile(r"@([a-z][a-z-]*)")
KEYS = tuple(f.name for f in fields(Story))
OPTIONAL = ("privacy", "errata")  # A method without privacy has no proof, and most have no errata.


@cache
def read_story(slug: str) -> Story | None:
    """Return the story of a method from its file; None if it has none.

    Raises `InvalidInput` if the file is not one of a story.
    """
    file = f"methods/{slug.replace('.', '/')}.toml"
    if not has_words(file):
        return None
    table = read_words(file)
    check_keys(file, table, [key for key in KEYS if key not in OPTIONAL], OPTIONAL)
    sentences, examples = read_shared()
    values = {
        key: _expand_sentences(f"{file}, {key}", value, sentences) for key, value in table.items()
    }
    for key, kind in get_type_hints(Story).items():
        if key in values and kind in (str, tuple[str, ...]):
            _check_kind(f"{file}, {key}", values[key], kind)
    smooth = values["smooth"]
    require(smooth in get_args(Smooth), f"{file}, smooth", f"one of {get_args(Smooth)}", smooth)
    values["example"] = _add_base(f"{file}, example", values["example"], examples)
    values["privacy"] = _read_proof(f"{file}, privacy", values.get("privacy"))
    return Story(**values)


@cache
def read_shared() -> tuple[Mapping[str, str], Mapping[str, Mapping[str, Any]]]:
    """Return the sentences that stories share, by name, and the examples that they share, by name.

    A sentence may contain others that stand above it in the file, and so may an example.
    """
    tables = read_words(SHARED)
    check_keys(SHARED, tables, ("texts", "examples"))
    texts: dict[str, str] = {}
    for name, text in tables["texts"].items():
        texts[name] = _expand_sentences(f"{SHARED}, {name}", text, texts)
    examples: dict[str, Mapping[str, Any]] = {}
    for name, example in tables["examples"].items():
        values = _expand_sentences(f"{SHARED}, {name}", example, texts)
        examples[name] = _add_base(f"{SHARED}, {name}", values, examples)
    return texts, examples


def _expand_sentences(place: str, value: Any, sentences: Mapping[str, str]) -> Any:
    """Return a value with its shared sentences written out, and with tuples in place of lists."""
    if isinstance(value, list):
        return tuple(_expand_sentences(place, item, sentences) for item in value)
    if isinstance(value, dict):
        return {
            key: _expand_sentences(f"{place}, {key}", item, sentences)
            for key, item in value.items()
        }
    if not isinstance(value, str):
        return value
    for name in NAME.findall(value):
        require(name in sentences, f"{place}, @{name}", "a name of a text in " + SHARED, name)
    return NAME.sub(lambda match: sentences[match[1]], value)


def _add_base(
    place: str, values: Any, examples: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, Any]:
    """Return the fields of an example: those of its base, overridden by its own."""
    require(isinstance(values, dict), place, "a table", values)
    base = values.get("base")
    if base is None:
        return dict(values)
    require(base in examples, f"{place}, base", "a name of an example in " + SHARED, base)
    return {**examples[base], **{key: value for key, value in values.items() if key != "base"}}


def _read_proof(place: str, table: Any) -> Proof | None:
    """Return the privacy proof that a table of a story describes."""
    if table is None:
        return None
    require(isinstance(table, dict), place, "a table", table)
    check_keys(place, table, [f.name for f in fields(Proof)])
    for key, value in table.items():
        _check_kind(f"{place}, {key}", value, str)
    return Proof(**table)


def _check_kind(place: str, value: Any, kind: Any) -> None:
    """Raise `InvalidInput` unless a value is a text or, for another kind, a tuple of texts."""
    if kind is str:
        require(isinstance(value, str), place, "a text", value)
        return
    is_list = isinstance(value, tuple) and all(isinstance(item, str) for item in value)
    require(is_list, place, "a list of texts", value)
