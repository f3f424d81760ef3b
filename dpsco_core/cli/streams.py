"""The process of a command: its standard streams, output files, exit status, and child process."""

import errno
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

from dpsco_core.base.errors import InvalidInput, NotApplicable


def open_streams() -> None:
    """Connect standard streams that the caller has closed to the null device.

    The system gives a new file the lowest free number, so that a results file could otherwise
    become standard error, and messages would be written into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The null device gets the number of the closed stream, which is the lowest free one.
            os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(number, True)  # Worker processes need the stream, too.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115, for the process
            setattr(sys, name, stream)


@contextmanager
def silent_when_interrupted() -> Iterator[None]:
    """Exit without a message if Ctrl-C interrupts the block, which imports the library.

    Python would otherwise print a traceback of the import.
    """
    handler = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or handler is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def print_every_character() -> None:
    """Make standard output escape characters that it cannot encode, as ``\u2013`` in Latin-1.

    Python does so for standard error; printing to standard output would raise
    `UnicodeEncodeError`.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def forget_output() -> None:
    """Discard the rest of the output, which Python would otherwise try to write at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def require_writable(target: str) -> None:
    """Raise `InvalidInput` if a file cannot be written, before the work for it begins."""
    with in_a_sentence(target):
        path = Path(os.path.realpath(target))
        if path.is_dir():
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        if path.is_file():
            path.open("ab").close()  # Opening a file for appending does not change it.
        elif not os.path.exists(target):  # A device or a pipe is not checked before.
            os.stat(os.path.join(path.parent, ""))  # This fails unless there is such a folder.
            if not os.access(path.parent, os.W_OK | os.X_OK):
                raise OSError(errno.EACCES, os.strerror(errno.EACCES))
            with suppress(FileNotFoundError):
                os.lstat(path)  # This fails if the name is too long.


def exit_status(command: Callable[[], int | None]) -> int:
    """Run a command and return the exit status of the process.

    It is what the command returns, 0 for None. Bad input and errors of the system become one
    sentence on standard error and status 2. Ctrl-C gives 130, without a message. A closed pipe
    behind standard output, as of `head`, is no failure.
    """
    try:
        status = command() or 0
        sys.stdout.flush()
        return status
    except (InvalidInput, NotApplicable) as problem:
        print(f"dpsco: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of the pipe has closed it
        forget_output()
    except OSError as problem:
        forget_output()
        print(f"dpsco: {_describe_system_error(problem)}", file=sys.stderr)
        return 2
    return 0


@contextmanager
def warnings_in_words() -> Iterator[None]:
    """Print each runtime warning, such as numpy's on an overflow, as one sentence at the end.

    Python would print it at once, with the path and a line of the source.
    """
    sentences: dict[str, None] = {}
    with warnings.catch_warnings():
        show = warnings.showwarning

        def keep(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            """Keep a runtime warning for the end, and show every other one as usual."""
            if not issubclass(category, RuntimeWarning):
                show(message, category, filename, lineno, file, line)
                return
            place = f"line {lineno} of {os.path.basename(filename)}"
            sentences[f"Warning in {place}: {message}."] = None

        warnings.showwarning = keep
        try:
            yield
        finally:
            for sentence in sentences:
                print(f"dpsco: {sentence}", file=sys.stderr)


def _describe_system_error(problem: OSError) -> str:
    """Return the system's error in words, with the name of the file if there is one."""
    reason = problem.strerror or " ".join(str(problem).split())
    if problem.filename is None:
        return f"The output cannot be written: {reason}."
    return f"{problem.filename} cannot be used: {reason}."


def start_child(module: str, arguments: Mapping[str, Any]) -> int:
    """Run a module of the dashboard in a process of its own, and return its exit status.

    The module gets its arguments as JSON. The library imports nothing of the dashboard.
    """
    command = [sys.executable, "-m", module, json.dumps(arguments)]
    return subprocess.run(command, check=False).returncode


def child_status(command: Callable[[Mapping[str, Any]], None], arguments: str) -> int:
    """Run a command in the process that `start_child` has started, and return its exit status.

    `arguments` are those of the command as JSON. The plugin files under ``"own"`` and installed
    plugins are loaded first, so that the catalogue is that of the process which started this one.
    """
    open_streams()
    print_every_character()

    def run() -> None:
        """Load the user's plugins and run the command in this process."""
        from dpsco_core.plugins import extend

        chosen = json.loads(arguments)
        extend.load_installed()
        extend.load(*chosen["own"])
        command(chosen)

    return exit_status(run)


@contextmanager
def in_a_sentence(target: str) -> Iterator[None]:
    """Turn a failure to write a file into an `InvalidInput` that names it."""
    try:
        yield
    except BrokenPipeError:  # the reader of the pipe has closed it
        raise
    except OSError as problem:
        reason = problem.strerror or " ".join(str(problem).split())
        raise InvalidInput(f"{target} cannot be written: {reason.rstrip('.')}.") from problem


@contextmanager
def whole_file(target: str) -> Iterator[Path]:
    """Yield a temporary path to write to, which replaces `target` when the block ends.

    So `target` is never seen half-written. A device or a pipe is written directly. Errors of the
    system become an `InvalidInput` that names the file.
    """
    path = Path(os.path.realpath(target))
    with in_a_sentence(target):
        # `target` and not `path` is tested, because a link of /dev/fd may not resolve.
        if os.path.exists(target) and not os.path.isfile(target):
            yield Path(target)
            return
        is_existing = path.exists()
        if is_existing:
            path.open("ab").close()  # This fails if the file is read-only.
        with TemporaryDirectory(dir=path.parent, prefix=".") as folder:
            # The temporary file has the name of the target, because archives store their name.
            part = Path(folder, path.name)
            yield part
            if is_existing:
                shutil.copymode(path, part)
            os.replace(part, path)
