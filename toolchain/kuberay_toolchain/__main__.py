"""`python -m kuberay_toolchain [NAME…]`: make programs available; without a name, all that are usual."""

from __future__ import annotations

import argparse
import signal
import sys
from types import FrameType

from kuberay_toolchain.errors import ToolchainError
from kuberay_toolchain.programs import PROGRAMS, usual_names
from kuberay_toolchain.toolchain import Toolchain


def main() -> int:
    """Ensure the programs named on the command line and print their paths."""
    parser = argparse.ArgumentParser(prog="python -m kuberay_toolchain", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a program, or PROGRAM@VERSION")
    names = parser.parse_args().names or usual_names(PROGRAMS)
    signal.signal(signal.SIGTERM, _exit_on_signal)
    try:
        for name, path in Toolchain().ensure(*names).items():
            print(f"{name}\t{path}")
    except ToolchainError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; what was compiled so far is kept for the next run", file=sys.stderr)
        return 130
    return 0


def _exit_on_signal(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
