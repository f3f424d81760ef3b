"""The command `dpsco`; Ctrl-C ends it silently even while its first modules are imported."""

import os
import signal
import sys


def main() -> int:
    """Run the command line and return its exit status."""
    previous_handler = signal.getsignal(signal.SIGINT)
    # On Ctrl-C during an import, Python would print a traceback.
    if previous_handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from dpsco_core.cli import main as command

    signal.signal(signal.SIGINT, previous_handler)
    return command.main()


if __name__ == "__main__":
    sys.exit(main())
