"""Own methods, bounds and distributions: from a Python file, or from an installed package.

A file is ordinary Python with one or more of the names ``METHODS``, ``BOUNDS``, ``DISTRIBUTIONS``
and ``CLAIMS``, each a tuple; claims are for the referee alone (`dpsco_core.referee`). A package
names a module with such tuples in the entry-point group ``dpsco.methods``. The tuples' entries are
added to the catalogue of this process, and to those of the workers that it starts. Plugin code runs
with all rights of whoever starts the process: only the command line, the start of the server and
scripts load it, and never a page.
"""

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple, cast, get_args, get_origin, get_type_hints

from dpsco_core import catalogue
from dpsco_core.base.cards import Card, MethodCard
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.parsing import shorten
from dpsco_core.base.plugin_guard import describe_error, is_real_between
from dpsco_core.bounds import Bound
from dpsco_core.data.base import Distribution, ScaledLaw
from dpsco_core.methods.base import Method, MethodCost, Reads
from dpsco_core.methods.stage import Stage
from dpsco_core.methods.story import Story
from dpsco_core.plugins.guards import added_bound, guard_law, guard_method

GROUP = "dpsco.methods"
NAMES = ("METHODS", "BOUNDS", "DISTRIBUTIONS")
CLAIMS = "CLAIMS"  # A file lists claims, which the catalogue lacks, under this name.
LARGEST = 1_000_000  # A plugin file may have this many bytes.


class OwnFile(NamedTuple):
    """A plugin file as it was read, so that workers anywhere run the same text."""

    path: str  # the absolute path of the file
    text: str  # the Python code in it

    @property
    def digest(self) -> str:
        """A short hash of the file's text."""
        return hashlib.blake2b(self.text.encode(), digest_size=6).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Addition:
    """The catalogue rows that a file or an installed package adds."""

    methods: tuple[type[Method], ...] = ()
    bounds: tuple[Bound, ...] = ()
    distributions: tuple[type[Distribution], ...] = ()
    claims: tuple[object, ...] = ()  # the claims for the referee, which the catalogue lacks

    @property
    def slugs(self) -> tuple[str, ...]:
        """The slugs of all added methods, bounds and distributions."""
        methods = (m.card.slug for m in self.methods)
        bounds = (b.card.slug for b in self.bounds)
        return (*methods, *bounds, *(d.card.slug for d in self.distributions))


_files: dict[OwnFile, Addition] = {}
_packages: dict[str, Addition] = {}


def load(*paths: str | Path) -> tuple[OwnFile, ...]:
    """Load Python files into the catalogue and return them; loading twice adds nothing.

    Rows of one file may name rows of another. Raises `InvalidInput` if a file cannot be read or
    run, or holds what may not be added: then nothing of any of them is.
    """
    files = tuple(_read_file(path) for path in paths)
    load_text(*files)
    return files


def _read_file(path: str | Path) -> OwnFile:
    """Return a file of plugin code; raise `InvalidInput` if it cannot be read."""
    file_name = shorten(str(path))
    try:
        place = Path(path).resolve(strict=True)
        if place.stat().st_size > LARGEST:
            raise ValueError("more than 1 MB")
        text = place.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise _refusal_error("a Python file that can be read", file_name, reason) from None
    return OwnFile(str(place), text)


def load_text(*files: OwnFile) -> None:
    """Load plugin files that have been read into the catalogue: all of them, or none on an error.

    Files that are loaded already are skipped; see `load`.
    """
    todo = [file for file in dict.fromkeys(files) if file not in _files]
    additions: dict[OwnFile, Addition] = {}
    try:
        for file in todo:
            with _explain_errors(file):
                additions[file] = _check_rows(_run_file(file), shorten(file.path))
        _check_slugs({file.path: addition for file, addition in additions.items()})
        for file, addition in additions.items():
            with _explain_errors(file):
                _guard(addition, file.path)
    except BaseException:
        for file in todo:
            sys.modules.pop(_module_name(file), None)
        raise
    for addition in additions.values():
        catalogue.add(addition.methods, addition.bounds, addition.distributions)
    _files.update(additions)


def function_in(place: str) -> Callable[..., Any]:
    """Run a Python file and return one of its functions, for ``"FILE:NAME"``.

    Raises `InvalidInput` if the file cannot be read or run, or has no such function.
    """
    path, colon, name = place.rpartition(":")
    if not (colon and path and name):
        raise InvalidInput(f"function must be FILE:NAME, got function={shorten(place)}.")
    file = _read_file(path)
    with _explain_errors(file):
        function = _run_file(file).get(name)
    if not callable(function):
        raise InvalidInput(
            f"function must be FILE:NAME with a function of that name in the file, "
            f"got function={shorten(place)}."
        )
    return cast(Callable[..., Any], function)


def addition_of(file: OwnFile) -> Addition:
    """Return the catalogue rows that a loaded file has added."""
    return _files[file]


def _module_name(file: OwnFile) -> str:
    """Return the module name of a plugin file: the same in every process that runs its text.

    Objects of the file can then be pickled in one process and read in another.
    """
    return f"dpsco_own_{Path(file.path).stem}_{file.digest}"


def _run_file(file: OwnFile) -> Mapping[str, Any]:
    """Run a file as a module, and return its names."""
    module = ModuleType(_module_name(file))
    module.__file__ = file.path
    sys.modules[module.__name__] = module  # Dataclasses and pickle look modules up here.
    exec(compile(file.text, file.path, "exec"), vars(module))
    return vars(module)


@contextmanager
def _explain_errors(file: OwnFile) -> Iterator[None]:
    """Turn an error of a plugin file's code, raised in the block, into an `InvalidInput`."""
    try:
        yield
    except InvalidInput:
        raise
    except BaseException as problem:
        # An interruption by the user is no error of the plugin.
        if isinstance(problem, KeyboardInterrupt):
            raise
        reason = describe_error(problem, file.path)
        must = "a Python file that can be loaded"
        raise _refusal_error(must, shorten(file.path), reason) from problem


def load_installed() -> None:
    """Load the additions of installed packages in the entry-point group ``dpsco.methods``.

    Raises `InvalidInput` as `load`, for the first package that may not be added.
    """
    for point in entry_points(group=GROUP):
        if point.value in _packages:
            continue
        try:
            module = point.load()
        except BaseException as problem:
            if isinstance(problem, KeyboardInterrupt):
                raise
            reason = describe_error(problem, "")
            raise _refusal_error(
                "of packages that can be loaded", point.value, reason, GROUP
            ) from problem
        names = vars(module) if isinstance(module, ModuleType) else {}
        addition = _check_rows(names, point.value)
        _check_slugs({point.value: addition})
        _guard(addition, str(names.get("__file__", point.value)))
        catalogue.add(addition.methods, addition.bounds, addition.distributions)
        _packages[point.value] = addition


def loaded_files() -> tuple[OwnFile, ...]:
    """Return the files that were added to the catalogue of this process, in order."""
    return tuple(_files)


def code_for(slugs: Iterable[str]) -> str:
    """Return the lines of a script that load the plugins behind `slugs`; empty if none do."""
    slug_set = set(slugs)
    lines = [
        f"extend.load({file.path!r})  # has {', '.join(sorted(slug_set & set(addition.slugs)))}\n"
        for file, addition in _files.items()
        if slug_set & set(addition.slugs)
    ]
    if any(slug_set & set(own.slugs) for own in _packages.values()):
        lines.append("extend.load_installed()\n")
    return "".join(lines)


def digests(slugs: Iterable[str]) -> tuple[str, ...]:
    """Return the hashes of the plugin files behind `slugs`, which are part of results' keys."""
    slug_set = set(slugs)
    return tuple(file.digest for file, own in _files.items() if slug_set & set(own.slugs))


def is_added(slug: str) -> bool:
    """Return whether a catalogue row was added by a plugin."""
    return any(slug in own.slugs for own in (*_files.values(), *_packages.values()))


def _refusal_error(must: str, value: str, reason: str, name: str = "with") -> InvalidInput:
    """Return the error for plugin code that is refused: "NAME must be MUST, got ..."."""
    reason = shorten(" ".join(reason.split()).rstrip("."))
    return InvalidInput(f"{name} must be {must}, got {name}={value} ({reason}).")


def _check_rows(names: Mapping[str, Any], source: str) -> Addition:
    """Return a plugin module's methods, bounds, laws and claims, or raise `InvalidInput`.

    `names` are the module's variables, and `source` names the module in messages.
    """
    if not any(name in names for name in (*NAMES, CLAIMS)):
        raise _refusal_error(
            f"a file with {', '.join(NAMES[:-1])} or {NAMES[-1]}", source, "none of it"
        )
    rows = {name: names.get(name, ()) for name in (*NAMES, CLAIMS)}
    for name, value in rows.items():
        if not isinstance(value, tuple):
            raise InvalidInput(f"{name} must be a tuple, got {type(value).__name__} in {source}.")
    for family in rows["METHODS"]:
        _check_method(family, source)
    for bound in rows["BOUNDS"]:
        _demand(isinstance(bound, Bound), "BOUNDS", "objects of the class Bound", bound, source)
        _check_card(bound.card, source)
    for law in rows["DISTRIBUTIONS"]:
        is_law = isinstance(law, type) and issubclass(law, ScaledLaw) and is_dataclass(law)
        must = "frozen dataclasses that extend ScaledLaw"
        _demand(is_law and _has_card(law, Card), "DISTRIBUTIONS", must, law, source)
        missing = " and ".join(sorted(law.__abstractmethods__))
        _demand(not missing, "DISTRIBUTIONS", f"laws that define {missing}", law, source)
        _check_card(law.card, source)
    path = str(names.get("__file__", source))
    return Addition(
        methods=rows["METHODS"],
        bounds=tuple(added_bound(own, path) for own in rows["BOUNDS"]),
        distributions=rows["DISTRIBUTIONS"],
        claims=rows[CLAIMS],
    )


def _guard(addition: Addition, path: str) -> None:
    """Wrap the code of added methods and laws so that its errors are one sentence each."""
    for family in addition.methods:
        guard_method(family, path)
    for law in addition.distributions:
        guard_law(law, path)


def _demand(condition: bool, name: str, must: str, value: object, source: str) -> None:
    """Raise `InvalidInput` unless `condition` holds for a value in a plugin's tuple `name`."""
    if not condition:
        class_name = getattr(value, "__name__", None) or type(value).__name__
        raise InvalidInput(f"{name} must hold {must}, got {class_name} in {source}.")


def _check_card(card: Any, source: str) -> None:
    """Raise `InvalidInput` if a field of a plugin's card has a value of the wrong type."""
    _demand(isinstance(card, Card), "card", "a Card", card, source)
    for name, hint in get_type_hints(type(card)).items():
        value, must = getattr(card, name), ""
        if get_origin(hint) is Literal:
            choices = get_args(hint)
            must = "" if value in choices else f"one of {', '.join(choices)}"
        elif get_origin(hint) is tuple:
            good = isinstance(value, tuple) and all(isinstance(one, str) for one in value)
            must = "" if good else "a tuple of text"
        elif not isinstance(value, hint):
            must = f"of the type {hint.__name__}"
        if must:
            raise InvalidInput(
                f"{name} of a card must be {must}, got {name}={shorten(repr(value))} of "
                f"{shorten(str(card.slug))} in {source}."
            )
    for slug in getattr(card, "problems", ()):
        if slug not in catalogue.PROBLEM_SLUGS:
            must = f"of {', '.join(catalogue.PROBLEM_SLUGS)}"
            misfit = f"{shorten(slug)} of {card.slug} in {source}"
            raise InvalidInput(f"problems must be {must}, got problems={misfit}.")


def _has_card(family: type, kind: type[Card]) -> bool:
    """Return whether a class has a card of this kind."""
    return isinstance(getattr(family, "card", None), kind)


def _check_method(family: Any, source: str) -> None:
    """Raise `InvalidInput` for a class that is no method, or may see data before it releases."""
    frozen = isinstance(family, type) and is_dataclass(family)
    frozen = frozen and family.__dataclass_params__.frozen
    # A mutable method could store records that it has read, and plan with them.
    _demand(frozen, "METHODS", "frozen dataclasses", family, source)
    _demand(_has_card(family, MethodCard), "METHODS", "classes with a MethodCard", family, source)
    _check_card(family.card, source)
    for name, kind in (("cost", MethodCost), ("stage", Stage), ("story", Story | None)):
        good = isinstance(getattr(family, name, None), kind)
        _demand(good, "METHODS", f"classes whose {name} is what its name says", family, source)
    for name in ("fixed", "per_row", "per_element", "per_column", "per_piece"):
        time = getattr(family.cost, name)
        if not is_real_between(time, 0, 1e12):
            raise InvalidInput(
                f"{name} of a cost must be nanoseconds from 0 to 1e12, got {name}="
                f"{shorten(repr(time))} of {family.card.slug} in {source}."
            )
    has_known_reading = getattr(family, "reads", None) in get_args(Reads)
    _demand(
        has_known_reading,
        "METHODS",
        f"classes that read {', '.join(get_args(Reads))}",
        family,
        source,
    )
    for name, must, reason in (
        ("plan", ("setting",), "no method sees data before it releases"),
        ("release", ("records", "plan", "ledger", "rng"), "all noise goes through the ledger"),
    ):
        parameters = inspect.signature(getattr(family, name)).parameters.values()
        required = [p.name for p in parameters if p.default is p.empty][1:]
        if len(required) != len(must):
            raise InvalidInput(
                f"{name} must take {', '.join(must)} and nothing else, because {reason}, got "
                f"{name}({', '.join(required)}) of {family.__name__} in {source}."
            )
    try:
        private = family.card.privacy != "none"
        family(calibration="tight", tuning="practical") if private else family()
    except TypeError as problem:
        fields = "calibration and tuning alone" if private else "no arguments"
        raise InvalidInput(
            f"METHODS must hold classes that can be made with {fields}, got {family.__name__} in "
            f"{source} ({shorten(str(problem))})."
        ) from None


def _check_slugs(additions: Mapping[str, Addition]) -> None:
    """Raise `InvalidInput` for added slugs that are ill-formed or taken, or name missing rows.

    `additions` are the rows by the path of their file.
    """
    added = additions.values()
    methods = {*catalogue.METHOD_SLUGS, *(m.card.slug for a in added for m in a.methods)}
    bounds = {"", *catalogue.BOUND_SLUGS, *(b.card.slug for a in added for b in a.bounds)}
    taken_slugs = {*catalogue.METHOD_SLUGS, *catalogue.BOUND_SLUGS, *catalogue.DISTRIBUTION_SLUGS}
    taken_slugs |= set(catalogue.PROBLEM_SLUGS)
    for path, addition in additions.items():
        source = shorten(path)
        _check_names(addition, source, methods, bounds)
        for slug in addition.slugs:
            letters = slug.replace("-", "").replace(".", "")
            if not (letters.isascii() and letters.isalnum() and letters == letters.lower()):
                must = "lower-case letters, digits, dots and hyphens"
                raise InvalidInput(f"slug must be {must}, got slug={shorten(slug)} in {source}.")
            if slug in taken_slugs:
                must = "one that the catalogue does not have"
                raise InvalidInput(f"slug must be {must}, got slug={slug} in {source}.")
            taken_slugs.add(slug)


def _check_names(addition: Addition, source: str, methods: set[str], bounds: set[str]) -> None:
    """Raise `InvalidInput` if a method names an unknown bound, or a bound an unknown method."""
    for family in addition.methods:
        if family.card.rate not in bounds:
            raise InvalidInput(
                f"rate must be that of a known bound, got rate={shorten(family.card.rate)} of the "
                f"method {family.card.slug} in {source}."
            )
    for bound in addition.bounds:
        if bound.card.method and bound.card.method not in methods:
            raise InvalidInput(
                f"method must be that of a known method, got method={bound.card.method} of the "
                f"bound {bound.card.slug} in {source}."
            )
