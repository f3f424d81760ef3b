"""The files of Pyodide, the engine of the page: from a folder or from its release, each checked."""

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

VERSION = "314.0.3"
RELEASE = f"https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/"
LIST = Path(__file__).parent / "pyodide.sha256"
ENVIRONMENT = "PYODIDE"  # names a folder with the files, or an address below which they are
SHARED_FOLDER = Path("shared", "pyodide")  # where a folder above the checkout may have them
SECONDS = 60


class EngineMissing(Exception):
    """A file of the engine is not there, or is another one; the message is for people."""


def hashes() -> dict[str, str]:
    """Return the SHA-256 of every file that is needed, by its name."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split() for line in lines)}


def folder(environment: Mapping[str, str], checkout_file: Path) -> Path | None:
    """Return the folder that holds the files: the one that is named, or one beside the checkout.

    None where they are to be fetched.
    """
    if place := environment.get(ENVIRONMENT):
        return None if _is_address(place) else Path(place)
    return next(
        (
            p / SHARED_FOLDER
            for p in checkout_file.resolve().parents
            if (p / SHARED_FOLDER).is_dir()
        ),
        None,
    )


def release(environment: Mapping[str, str]) -> str:
    """Return the address below which the files are: a mirror that is named, or the release."""
    place = environment.get(ENVIRONMENT, "")
    return f"{place.rstrip('/')}/" if _is_address(place) else RELEASE


def _is_address(place: str) -> bool:
    return place.startswith(("https://", "http://"))


def checked(name: str, content: bytes, source: str) -> bytes:
    """Return the content of a file; raises `EngineMissing` if it is not the one of the list."""
    if hashlib.sha256(content).hexdigest() != hashes()[name]:
        raise EngineMissing(
            f"{name} in {source} is not the file of Pyodide {VERSION}: its SHA-256 differs from "
            f"that in {LIST.name}."
        )
    return content


def engine_files(store: Path, checkout_file: Path | None = None) -> dict[str, bytes]:
    """Return the content of every file of the engine, by name, each checked.

    Fetched files are kept in the folder `store`. A shared folder is looked for above
    `checkout_file`, or above the current directory if that is None. Raises `EngineMissing` if a
    file is missing, cannot be fetched or is another one.
    """
    given_folder, address = (
        folder(os.environ, checkout_file or Path.cwd() / "here"),
        release(os.environ),
    )
    return {name: _content_of(name, given_folder, store, address) for name in hashes()}


def _content_of(name: str, given_folder: Path | None, store: Path, address: str) -> bytes:
    if given_folder is not None:
        path = given_folder / name
        if not path.is_file():
            raise EngineMissing(
                f"{name} is missing in {given_folder}: {ENVIRONMENT} must name a folder with the "
                f"files of Pyodide {VERSION}."
            )
        return checked(name, path.read_bytes(), str(given_folder))
    path = store / name
    if not path.is_file():
        content = checked(name, _fetched(name, address), address)
        store.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{name}.part")  # whoever stops this leaves no half of a file
        part.write_bytes(content)
        part.replace(path)
    return checked(name, path.read_bytes(), str(store))


def _fetched(name: str, address: str) -> bytes:
    try:
        with urllib.request.urlopen(address + name, timeout=SECONDS) as answer:
            content: bytes = answer.read()
            return content
    except (urllib.error.URLError, http.client.HTTPException, OSError) as problem:
        raise EngineMissing(
            f"{name} of Pyodide {VERSION} could not be fetched from {address} ({problem}): "
            f"{ENVIRONMENT} may name a folder that has the files."
        ) from None
