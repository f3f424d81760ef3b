"""Where the command line reads from and writes to: standard streams, and files to be made."""

import errno
import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from dpsco_core.base.errors import InvalidInput


def open_streams() -> None:
    """Open on the null device what the caller has closed of standard input, output and error.

    The system gives a new file the lowest free number: otherwise a results file could become
    standard error, and a message there would land in it. Where Python has no standard error, it
    prints such messages to standard output.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # has this number, the lowest that is free
            os.set_inheritable(number, True)  # for the processes that run cells
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115, for the process
            setattr(sys, name, stream)


def print_every_character() -> None:
    """Escape what standard output's encoding lacks: in Latin-1 an en dash becomes ``\\u2013``.

    Python does so for standard error, and otherwise ends with `UnicodeEncodeError`.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def forget_output() -> None:
    """Let what is still to be printed go nowhere: Python would try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def require_writable(target: str) -> None:
    """Refuse a file that cannot be written, before the work whose result it is to hold.

    Raises `InvalidInput`.
    """
    with in_a_sentence(target):
        path = Path(os.path.realpath(target))
        if path.is_dir():
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        if path.is_file():
            path.open("ab").close()  # changes nothing
        elif not os.path.exists(target):  # a device or a pipe shows when it is written
            os.stat(os.path.join(path.parent, ""))  # is there, and is a folder
            if not os.access(path.parent, os.W_OK | os.X_OK):
                raise OSError(errno.EACCES, os.strerror(errno.EACCES))
            with suppress(FileNotFoundError):
                os.lstat(path)  # a name too long is refused


@contextmanager
def in_a_sentence(target: str) -> Iterator[None]:
    """Raise `InvalidInput`, which names the file, where it cannot be written."""
    try:
        yield
    except BrokenPipeError:  # the reader of a pipe has had enough
        raise
    except OSError as problem:
        why = problem.strerror or " ".join(str(problem).split())
        raise InvalidInput(f"{target} cannot be written: {why.rstrip('.')}.") from problem


@contextmanager
def whole_file(target: str) -> Iterator[Path]:
    """Give a path to write to, which takes the place of `target` once all of it is written.

    A device or a pipe is written itself.
    """
    path = Path(os.path.realpath(target))
    if os.path.exists(target) and not os.path.isfile(target):  # a link of /dev/fd leads nowhere
        yield Path(target)
        return
    there = path.exists()
    if there:
        path.open("ab").close()  # what may not be written is not replaced either
    with TemporaryDirectory(dir=path.parent, prefix=".") as folder:
        part = Path(folder, path.name)  # the same name: archives hold it
        yield part
        if there:
            shutil.copymode(path, part)
        os.replace(part, path)
