"""Cells on a Dask cluster: its executor, and a sentence for whatever may be wrong with it.

The workers need this package in the same version; with another processor or linear algebra library
they may differ in the last digits. Dask sends pickled objects between all of them: use a cluster
whose network you trust.
"""

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from dpsco_core import __version__
from dpsco_core.base.dispatch import WorkersLost
from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.parsing import shorten
from dpsco_core.plugins import extend

PATIENCE = 10.0  # seconds for a scheduler to answer, and for a first worker
PATIENCE_FOR_WORKERS = 60.0  # seconds that a study waits once all workers have gone
# Whatever else talks there may say anything: lengths beyond all memory, words for numbers. Without
# the certificates that an address or Dask's configuration asks for, Dask raises the last two.
NO_SCHEDULER = (OSError, EOFError, LookupError, MemoryError, ValueError, TypeError, RuntimeError)


class Cluster(Executor):
    """The executor of a Dask client, which knows how many workers there are; see `cluster`."""

    def __init__(self, client: Any, address: str) -> None:
        self._client = client
        self._address = address
        self._executor = client.get_executor(pure=False)
        self._alone_since: float | None = None
        self.workers = max(1, sum(client.nthreads().values()))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand a call to the cluster, which runs it again if its worker dies."""
        future: Future[Any] = self._executor.submit(fn, *args, **kwargs)
        future.add_done_callback(self._not_alone)
        return future

    def _not_alone(self, _: object = None) -> None:
        self._alone_since = None

    def check(self) -> None:
        """Raise `WorkersLost` if there has been no worker for a while; Dask itself would wait."""
        if self._client.nthreads():
            self._not_alone()
            return
        now = time.monotonic()
        self._alone_since = since = self._alone_since or now
        if now - since >= PATIENCE_FOR_WORKERS:
            raise WorkersLost(
                _sentence("a cluster with workers", self._address, "all have gone", True)
            )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take nothing more; the cluster stays."""
        self._executor.shutdown(wait=wait and not cancel_futures)


@contextmanager
def cluster(
    # as ``host:port``, ``tcp://host:port``, or ``tls://host:port`` with the certificates of Dask's
    # own configuration
    address: str,
) -> Iterator[Cluster]:
    """Open the executor of the Dask cluster whose scheduler is at `address`.

    The cluster runs a call again whose worker died. If the scheduler is lost the block ends.

    Raises `InvalidInput` if Dask is not installed, the address is none, no scheduler answers there,
    it has no workers, or they have another version of this package, and `WorkersLost` if the
    scheduler or all workers are lost, or a cell ends one worker after the other.
    """
    try:
        from distributed import Client
        from distributed.scheduler import KilledWorker
    except ImportError as missing:
        raise InvalidInput(
            "distributed must be installed to use a Dask cluster: "
            "pip install 'dpsco-explorer[cluster]'."
        ) from missing
    _require_scheduler(address)
    # Seconds to wait for a scheduler that has gone: a study ends with it.
    client: Any = Client(address, timeout=PATIENCE, set_as_default=False)
    try:
        try:
            _require_workers(client, address)
            if extend.loaded():  # on every worker, and on those that come later
                client.register_worker_callbacks(partial(_add_own, extend.loaded()))
            yield Cluster(client, address)
        except KilledWorker as problem:
            last = f"{problem.allowed_failures + 1} workers died with one call"
            raise WorkersLost(
                _sentence("a cluster whose workers live", address, last, True)
            ) from None
        except (WorkersLost, OSError) as problem:
            if client.status == "running":
                raise
            kept = _sentence("a scheduler that stays", address, "it was lost", True)
            raise WorkersLost(kept) from problem
    finally:
        with suppress(TimeoutError):  # the scheduler may not answer any more
            client.close(timeout=PATIENCE)


def _sentence(must: str, address: str, why: str, kept: bool = False) -> str:
    problem = f"dask must be {must}, got dask={shorten(address)} ({shorten(why)})"
    return f"{problem}; what had finished is kept." if kept else f"{problem}."


def _require_scheduler(address: str) -> None:
    """Raise `InvalidInput` unless a scheduler answers: a client that fails half-way lingers."""
    from distributed.comm.addressing import parse_address, parse_host_port

    try:
        scheme, place = parse_address(address)
        if scheme not in ("tcp", "tls"):
            raise ValueError("its scheme must be tcp or tls")
        host, port = parse_host_port(place)
        if not (host and 0 < port < 65536):
            raise ValueError("no host and port")
    except (ValueError, TypeError) as problem:
        why = " ".join(str(problem).split())
        raise InvalidInput(_sentence("an address as host:port", address, why)) from None
    try:
        socket.create_connection((host, port), timeout=PATIENCE).close()
        # In a thread of its own, for the caller may be in an event loop (a notebook).
        with ThreadPoolExecutor(1) as aside:
            identity = aside.submit(asyncio.run, _identity(address)).result()
        if identity.get("type") != "Scheduler":
            raise OSError(f"a {identity.get('type')} answers there")
    except TimeoutError:
        why = f"no answer within {PATIENCE:g} seconds"
        raise InvalidInput(_sentence("the address of a scheduler", address, why)) from None
    except NO_SCHEDULER as problem:
        why = getattr(problem, "strerror", None) or " ".join(str(problem).split())
        raise InvalidInput(_sentence("the address of a scheduler", address, why)) from problem


async def _identity(address: str) -> dict[str, Any]:
    from distributed import Security, rpc

    encryption = Security().get_connection_args("client")  # as the client itself reads it
    answering: Any = rpc(address, timeout=PATIENCE, connection_args=encryption)
    async with asyncio.timeout(PATIENCE), answering as remote:
        identity: dict[str, Any] = await remote.identity()
        return identity


def _require_workers(client: Any, address: str) -> None:
    """Raise `InvalidInput` unless there are workers, all with this version of the package."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        why = f"none came within {PATIENCE:g} seconds"
        raise InvalidInput(_sentence("a cluster with workers", address, why)) from None
    for worker, version in client.run(_version, on_error="return").items():
        if isinstance(version, Exception):
            why = f"{worker}: {type(version).__name__}: {version}"
            raise InvalidInput(_sentence("a cluster with this package", address, why)) from None
        if version != __version__:
            why = f"{worker} has version {version}, and this is {__version__}"
            raise InvalidInput(_sentence("a cluster with this version", address, why)) from None


def _add_own(files: tuple[extend.OwnFile, ...]) -> None:
    for file in files:
        extend.load_text(file)


def _version() -> str:
    return __version__
