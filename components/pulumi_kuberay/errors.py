"""The error that every component raises on arguments it cannot use."""

from collections.abc import Iterable

import pulumi


class ArgumentError(pulumi.RunError):
    """An argument that cannot work, told in one sentence.

    Pulumi prints a ``RunError`` without a traceback, so the sentence is what the user reads at preview.
    """


def refuse(what: str, problems: Iterable[str]) -> None:
    """Raise one error that tells every problem, if there is any.

    Args:
        what: The sentence that comes first.
        problems: A sentence each; a problem told twice is listed once.

    Raises:
        ArgumentError: There is a problem.
    """
    if reasons := list(dict.fromkeys(problems)):
        raise ArgumentError(" ".join([what, *reasons]))
