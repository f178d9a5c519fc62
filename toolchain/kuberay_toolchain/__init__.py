"""Pinned programs for pulumi-kuberay: found, or built from Go modules, and kept in a cache.

`Toolchain` makes programs available, `doctor.examine` tells what is there and what is missing.
"""

from kuberay_toolchain.errors import ToolchainError
from kuberay_toolchain.programs import PROGRAMS, GoModule, ModuleFile, Probe, Program
from kuberay_toolchain.progress import Console, Progress, Silent
from kuberay_toolchain.toolchain import Found, Toolchain

__all__ = [
    "PROGRAMS",
    "Console",
    "Found",
    "GoModule",
    "ModuleFile",
    "Probe",
    "Program",
    "Progress",
    "Silent",
    "Toolchain",
    "ToolchainError",
]
