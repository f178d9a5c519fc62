"""Errors of the toolchain: full sentences that say what was expected, what was seen and what to do."""


class ToolchainError(Exception):
    """A program cannot be made available; the message says why and what to do."""


class UnknownProgram(ToolchainError):
    """The catalogue holds no program of this name or version."""


class GivenPathRejected(ToolchainError):
    """A path given by the caller does not exist, is not executable or answers another version."""


class GoMissing(ToolchainError):
    """No Go that is new enough is there, and none could be installed."""


class NoNetwork(ToolchainError):
    """A module or package could not be fetched."""


class DiskFull(ToolchainError):
    """There is not enough free disk space for a build, or it ran out during one."""


class BuildFailed(ToolchainError):
    """`go build` ended with an error of its own."""


class ImageFailed(ToolchainError):
    """A container image cannot be made."""
