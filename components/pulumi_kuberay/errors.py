"""The error that every component raises on arguments it cannot use."""

import pulumi


class ArgumentError(pulumi.RunError, ValueError):
    """An argument that cannot work, told in one sentence.

    Pulumi prints a ``RunError`` without a traceback, so the sentence is what the user reads at preview.
    """
