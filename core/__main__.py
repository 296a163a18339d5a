"""The command line: `decoding-explorer COMMAND`, in the repository `python -m core COMMAND`."""

from __future__ import annotations

import signal
import sys


def run() -> None:
    """Run the command of this process's arguments, and end the process."""
    try:
        from .cli.main import main
    except KeyboardInterrupt:
        sys.exit(130)
    code = main()
    # All is said: a late Ctrl+C ends the program without another word.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(code)


if __name__ == "__main__":
    run()
