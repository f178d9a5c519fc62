"""The time that a sweep is given."""

from kuberay_e2e.errors import InputError


def seconds_of(text: str | None) -> float | None:
    """Seconds of a time as users write it, such as 90s or 5m; None for none.

    Raises:
        InputError: It is no such time, or zero.
    """
    if text is None:
        return None
    number, unit = text[:-1], text[-1:]
    if unit not in ("s", "m") or not number.isdigit() or int(number) == 0:
        raise InputError(f"Expected --time-budget as a number of seconds or minutes, such as 90s or 5m, got {text!r}.")
    return int(number) * (60.0 if unit == "m" else 1.0)
