"""Running cells on a Dask cluster: its executor, and one sentence for each way it can fail.

The workers need the same version of this package; another processor or linear algebra library may
change the last digits. Dask sends pickled objects between all of them: use a cluster whose network
you trust.
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

PATIENCE = 10.0  # the seconds to wait for the scheduler's answer, and for a first worker
PATIENCE_FOR_WORKERS = 60.0  # the seconds that a study waits once all workers have gone
# The errors of a connection to something other than a Dask scheduler: another service may send huge
# lengths, or words in place of numbers. Dask raises the last two if it lacks certificates that the
# address or its configuration asks for.
NO_SCHEDULER = (OSError, EOFError, LookupError, MemoryError, ValueError, TypeError, RuntimeError)


class Cluster(Executor):
    """The executor of a Dask client, which knows its number of workers; see `cluster`."""

    def __init__(self, client: Any, address: str) -> None:
        """Use the workers of a connected Dask client."""
        self._client = client
        self._address = address
        self._executor = client.get_executor(pure=False)
        self._alone_since: float | None = None
        self.workers = max(1, sum(client.nthreads().values()))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call to the cluster, which runs it again if its worker dies."""
        future: Future[Any] = self._executor.submit(fn, *args, **kwargs)
        future.add_done_callback(self._not_alone)
        return future

    def _not_alone(self, _: object = None) -> None:
        """Note that workers are present, so that the time without workers ends."""
        self._alone_since = None

    def check(self) -> None:
        """Raise `WorkersLost` after a while without workers, where Dask would keep waiting."""
        if self._client.nthreads():
            self._not_alone()
            return
        moment = time.monotonic()
        self._alone_since = idle_since = self._alone_since or moment
        if moment - idle_since >= PATIENCE_FOR_WORKERS:
            raise WorkersLost(
                _describe_problem("a cluster with workers", self._address, "all have gone", True)
            )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop accepting calls; the cluster itself keeps running."""
        self._executor.shutdown(wait=wait and not cancel_futures)


@contextmanager
def cluster(
    # ``host:port``, ``tcp://host:port``, or ``tls://host:port`` with the certificates of Dask's
    # own configuration
    address: str,
) -> Iterator[Cluster]:
    """Open an executor on the Dask cluster whose scheduler is at `address`.

    The cluster reruns the calls of a worker that died. If the scheduler is lost, the block ends.

    Raises `InvalidInput` if Dask is not installed, the address is malformed, no scheduler answers
    there, it has no workers, or they have another version of this package; and `WorkersLost` if the
    scheduler or all workers are lost, or if one cell kills one worker after another.
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
    # A study ends with its scheduler, so the client waits no longer than this for it to return.
    client: Any = Client(address, timeout=PATIENCE, set_as_default=False)
    try:
        try:
            _require_workers(client, address)
            # Dask also runs the callback on workers that join later.
            if extend.loaded_files():
                client.register_worker_callbacks(partial(_load_plugins, extend.loaded_files()))
            yield Cluster(client, address)
        except KilledWorker as problem:
            reason = f"{problem.allowed_failures + 1} workers died with one call"
            raise WorkersLost(
                _describe_problem("a cluster whose workers live", address, reason, True)
            ) from None
        except (WorkersLost, OSError) as problem:
            if client.status == "running":
                raise
            message = _describe_problem("a scheduler that stays", address, "it was lost", True)
            raise WorkersLost(message) from problem
    finally:
        with suppress(TimeoutError):  # Closing times out if the scheduler is gone.
            client.close(timeout=PATIENCE)


def _describe_problem(
    condition: str, address: str, reason: str, are_results_kept: bool = False
) -> str:
    """Return the sentence on what is wrong with a cluster."""
    problem = f"dask must be {condition}, got dask={shorten(address)} ({shorten(reason)})"
    return f"{problem}; what had finished is kept." if are_results_kept else f"{problem}."


def _require_scheduler(address: str) -> None:
    """Raise `InvalidInput` unless a scheduler answers, before a client is created."""
    from distributed.comm.addressing import parse_address, parse_host_port

    try:
        scheme, place = parse_address(address)
        if scheme not in ("tcp", "tls"):
            raise ValueError("its scheme must be tcp or tls")
        host, port = parse_host_port(place)
        if not (host and 0 < port < 65536):
            raise ValueError("no host and port")
    except (ValueError, TypeError) as problem:
        reason = " ".join(str(problem).split())
        raise InvalidInput(_describe_problem("an address as host:port", address, reason)) from None
    try:
        socket.create_connection((host, port), timeout=PATIENCE).close()
        # A separate thread, because the caller may be inside an event loop (a notebook).
        with ThreadPoolExecutor(1) as helper:
            identity = helper.submit(asyncio.run, _scheduler_identity(address)).result()
        if identity.get("type") != "Scheduler":
            raise OSError(f"a {identity.get('type')} answers there")
    except TimeoutError:
        reason = f"no answer within {PATIENCE:g} seconds"
        raise InvalidInput(
            _describe_problem("the address of a scheduler", address, reason)
        ) from None
    except NO_SCHEDULER as problem:
        reason = getattr(problem, "strerror", None) or " ".join(str(problem).split())
        raise InvalidInput(
            _describe_problem("the address of a scheduler", address, reason)
        ) from problem


async def _scheduler_identity(address: str) -> dict[str, Any]:
    """Return what the scheduler at an address says about itself."""
    from distributed import Security, rpc

    # The connection uses the client's settings.
    encryption = Security().get_connection_args("client")
    connection: Any = rpc(address, timeout=PATIENCE, connection_args=encryption)
    async with asyncio.timeout(PATIENCE), connection as remote:
        identity: dict[str, Any] = await remote.identity()
        return identity


def _require_workers(client: Any, address: str) -> None:
    """Raise `InvalidInput` unless there are workers, all with this version of the package."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        reason = f"none came within {PATIENCE:g} seconds"
        raise InvalidInput(_describe_problem("a cluster with workers", address, reason)) from None
    for worker, version in client.run(_package_version, on_error="return").items():
        if isinstance(version, Exception):
            reason = f"{worker}: {type(version).__name__}: {version}"
            raise InvalidInput(
                _describe_problem("a cluster with this package", address, reason)
            ) from None
        if version != __version__:
            reason = f"{worker} has version {version}, and this is {__version__}"
            raise InvalidInput(
                _describe_problem("a cluster with this version", address, reason)
            ) from None


def _load_plugins(files: tuple[extend.OwnFile, ...]) -> None:
    """Load plugin files; Dask calls this in every worker."""
    extend.load_text(*files)


def _package_version() -> str:
    """Return the version of this package; Dask calls this in every worker."""
    return __version__
