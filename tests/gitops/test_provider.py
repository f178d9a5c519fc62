"""A provider that does not start is told, and nothing of it is left."""

from pathlib import Path

import pytest

from kuberay_e2e.errors import HarnessError
from kuberay_e2e.gitops.provider import running_provider


def test_a_program_that_is_no_provider_is_told(tmp_path: Path) -> None:
    program = tmp_path / "provider"
    program.write_text("#!/bin/sh\necho no port\n")
    program.chmod(0o755)
    with pytest.raises(HarnessError, match="expected the number of a port, got 'no port'"), running_provider(program):
        pass


def test_a_program_that_says_nothing_and_ends_is_told(tmp_path: Path) -> None:
    program = tmp_path / "provider"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(HarnessError, match="did not start"), running_provider(program):
        pass
