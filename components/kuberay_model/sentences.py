"""Small pieces of the sentences that errors and findings are made of."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def listed(words: Iterable[str], last: str = "and") -> str:
    """Join words as prose does: `a, b and c`."""
    *most, final = words
    return f"{', '.join(most)} {last} {final}" if most else final


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that differs least from `word`, letter case ignored, or None if none is near."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    matches = get_close_matches(word.casefold(), by_folded, n=1)
    return by_folded[matches[0]] if matches else None
