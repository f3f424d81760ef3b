"""The command `dpsco`, which Ctrl-C ends in silence while its first modules are being imported."""

import os
import signal
import sys


def main() -> int:
    """Run the command line and return its exit status."""
    previous_handler = signal.getsignal(signal.SIGINT)
    # Of an exception in the midst of an import, Python would print where it was.
    if previous_handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from dpsco_core.cli import main as command

    signal.signal(signal.SIGINT, previous_handler)
    return command.main()


if __name__ == "__main__":
    sys.exit(main())
