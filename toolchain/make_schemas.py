"""Write the schemas in `components/kuberay_model/schemas` anew from the CRDs of the pinned operators.

`make schemas` runs it after an operator of another version was pinned.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from kuberay_model import schemas
from kuberay_toolchain import PROGRAMS, Toolchain

OPERATOR = "kuberay-operator"
TARGET = Path(schemas.__file__).parent


def rendered() -> Iterator[tuple[Path, str]]:
    """Yield the file of each schema and what belongs into it; the operators' CRDs are fetched if need be."""
    toolchain = Toolchain()
    for version in sorted(program.version for program in PROGRAMS if program.name == OPERATOR):
        crds = toolchain.files(f"{OPERATOR}@{version}") / "config" / "crd" / "bases"
        yield TARGET / f"{version}.json", schemas.render(schemas.from_crds(crds))


def main() -> int:
    """Write the files and say which."""
    for file, text in rendered():
        file.write_text(text, encoding="utf-8")
        print(f"{file}\t{len(text) // 1024} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
