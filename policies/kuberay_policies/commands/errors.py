"""The error that ends a command."""


class CommandError(Exception):
    """A command that cannot be carried out as it was given; the exit code is 2."""
