"""The errors of the harness, one class per exit code of the command line."""


class HarnessError(Exception):
    """Something of the machine or of the harness failed; the message is a sentence for the user (exit code 3)."""


class InputError(Exception):
    """The user's input cannot be used; the message is a sentence with file and line (exit code 2)."""


class VerificationError(Exception):
    """Something that should hold did not; the message says what was expected and what was seen (exit code 1)."""
