"""`python -m kuberay_model.rules_page [FILE]`: write the page on all rules to a file, or to standard output."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from kuberay_model.rules import RULES
from kuberay_model.rules.page import document


def main(arguments: Sequence[str]) -> int:
    """Write the page."""
    page = document(RULES.values())
    if arguments:
        Path(arguments[0]).write_text(page, encoding="utf-8")
    else:
        sys.stdout.write(page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
