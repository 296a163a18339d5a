"""The command line: `python -m core COMMAND`."""

from __future__ import annotations

import signal
import sys

if __name__ == "__main__":
    try:
        from .cli.main import main
    except KeyboardInterrupt:
        sys.exit(130)
    code = main()
    # All is said: a late Ctrl+C ends the program without another word.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(code)
