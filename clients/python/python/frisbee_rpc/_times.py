"""Converts times from and to seconds and nanoseconds. This module is imported when the first time is used."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_SECOND = timedelta(seconds=1)


def read_timestamp(seconds: int, nanos: int) -> datetime:
    """Returns a UTC time. Digits below a microsecond are dropped."""
    try:
        return _EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1000)
    except OverflowError:
        raise ValueError(f"{seconds} s after 1970 is outside of the years 1 to 9999") from None


def write_timestamp(value: object) -> tuple[int, int]:
    if not isinstance(value, datetime):
        raise TypeError(f"a datetime expected, not {type(value).__name__}")
    if value.utcoffset() is None:
        raise ValueError("a datetime without a time zone: use datetime.now(timezone.utc), or replace(tzinfo=…)")
    return write_duration(value - _EPOCH, is_floored=True)


def read_duration(seconds: int, nanos: int) -> timedelta:
    """Returns a duration with microsecond resolution."""
    try:
        return timedelta(seconds=seconds, microseconds=int(nanos / 1000))
    except OverflowError:
        raise ValueError(f"{seconds} s does not fit a timedelta") from None


def write_duration(value: object, *, is_floored: bool = False) -> tuple[int, int]:
    if not isinstance(value, timedelta):
        raise TypeError(f"a timedelta expected, not {type(value).__name__}")
    seconds, rest = divmod(value, _SECOND)
    if seconds < 0 and rest and not is_floored:
        # Both parts of a duration have the same sign.
        seconds, rest = seconds + 1, rest - _SECOND
    return seconds, rest // timedelta(microseconds=1) * 1000
