"""Just enough of the shell's quoting to tell whether a command line is a single command."""

from __future__ import annotations

_ACTIVE = frozenset(";|&<>\n`$")
_ACTIVE_IN_DOUBLE_QUOTES = frozenset("`$")
_DOUBLED = frozenset({"&&", "||", ";;", "<<", ">>"})


def first_operator(command: str) -> str | None:
    """Return the first unquoted operator, expansion or line break; None if the line is one command."""
    quote = ""
    escaped = False
    for i, character in enumerate(command):
        if escaped:
            escaped = False
        elif character == "\\" and quote != "'":
            escaped = True
        elif quote:
            if character == quote:
                quote = ""
            elif quote == '"' and character in _ACTIVE_IN_DOUBLE_QUOTES:
                return character
        elif character in "'\"":
            quote = character
        elif character in _ACTIVE:
            pair = command[i : i + 2]
            return "a line break" if character == "\n" else pair if pair in _DOUBLED else character
    return None
