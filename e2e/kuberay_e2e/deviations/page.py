"""`python -m kuberay_e2e.deviations.page [FILE]`: the known deviations as a page, to a file or to standard output."""

import sys
from collections.abc import Sequence
from pathlib import Path

from kuberay_e2e.deviations.catalogue import Deviation, Occurrence, files, read

_HEAD = """# Known deviations

What KubeRay and Kueue do otherwise than their users are told, seen on unmodified releases with real pods or with a real
API server. A run fails on any other deviation, and on one of these that no longer happens. Made from
`e2e/kuberay_e2e/deviations` by `make schemas`.
"""


def document() -> str:
    """The page of all files."""
    parts = [_HEAD]
    for file in files():
        product, _, version = file.stem.partition("-")
        parts.append(f"\n## {_NAMES.get(product, product)} {version}\n")
        parts += [section(entry) for entry in read(file)]
    return "".join(parts)


_NAMES = {"kuberay": "KubeRay", "kueue": "Kueue", "sweep": "KubeRay, with a disturbed operator"}


def section(entry: Deviation) -> str:
    """One deviation."""
    where = f"{entry.scenario}, {entry.mode}" if entry.mode else entry.scenario
    often = "" if entry.occurrence is Occurrence.ALWAYS else " It depends on timing and does not happen every time."
    trace = "\n".join(entry.trace)
    return (
        f"\n### {entry.id}\n\n"
        f"- **Scenario**: {where}\n"
        f"- **Promised**: {entry.expected.strip()}\n"
        f"- **Cause**: {entry.cause.strip()}{often}\n"
        f"- **Upstream**: {entry.upstream.strip()}\n\n"
        f"```\n{trace}\n```\n"
    )


def main(arguments: Sequence[str]) -> int:
    """Write the page."""
    if arguments:
        Path(arguments[0]).write_text(document(), encoding="utf-8")
    else:
        sys.stdout.write(document())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
