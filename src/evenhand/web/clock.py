"""Deadlines with time zones, and times in words."""

from __future__ import annotations

import functools
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from evenhand.errors import OptionError, plural

AOE = "Anywhere on Earth"
ALIASES = {AOE: "Etc/GMT+12", "AoE": "Etc/GMT+12"}
LAST_YEAR = 9000
LATEST = timedelta(days=5 * 366)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@functools.cache
def zones() -> tuple[str, ...]:
    """Return the names of time zones to choose from, read from the disk once."""
    names = {name for name in available_timezones() if "/" in name}
    usual = {name for name in names if not name.startswith(("Etc/", "posix", "right"))}
    return ("UTC", AOE, *sorted(usual))


def zone_of(name: str) -> ZoneInfo:
    """Return a time zone by its name.

    Raises:
        OptionError: If there is no such zone.

    Examples:
        >>> zone_of("Anywhere on Earth").key
        'Etc/GMT+12'
    """
    try:
        return ZoneInfo(ALIASES.get(name, name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise OptionError(
            "The time zone must be a name such as Europe/Berlin or UTC."
        ) from None


def read_deadline(text: str, zone: str) -> datetime | None:
    """Read a deadline of the form, in UTC; None if there is none.

    Raises:
        OptionError: If it is not a time, or clocks skip it there.

    Examples:
        >>> read_deadline("2026-11-20T17:00", "Europe/Berlin").isoformat()
        '2026-11-20T16:00:00+00:00'
        >>> read_deadline("2026-03-29T02:30", "Europe/Berlin")
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: There is no 02:30 on that day in Europe/Berlin:
        clocks go forward then. Take another time.
    """
    if not text:
        return None
    try:
        local = datetime.fromisoformat(text)
        deadline = local.replace(tzinfo=zone_of(zone)).astimezone(UTC)
        again = deadline.astimezone(zone_of(zone)).replace(tzinfo=None)
    except (ValueError, OverflowError) as error:
        if isinstance(error, OptionError):
            raise
        raise OptionError("The deadline must be a date and a time.") from None
    if local.tzinfo is not None or again != local:
        raise OptionError(
            f"There is no {local:%H:%M} on that day in {zone}: clocks go forward then. "
            "Take another time."
        )
    if deadline.year > LAST_YEAR:
        raise OptionError(f"The deadline must be before the year {LAST_YEAR + 1}.")
    return deadline


def check_near(at: datetime | None, now: datetime) -> None:
    """Refuse a deadline that is too far away to be meant.

    Raises:
        OptionError: If it is more than five years away.
    """
    if at is not None and at - now > LATEST:
        raise OptionError("The deadline must be within five years.")


def local_time(at: datetime | None, zone: str) -> str:
    """Write a time as people of a zone read it.

    Examples:
        >>> local_time(datetime(2026, 11, 20, 16, tzinfo=UTC), "Europe/Berlin")
        'Fri 20 Nov 2026, 17:00 (Europe/Berlin)'
    """
    if at is None:
        return ""
    return f"{at.astimezone(zone_of(zone)):%a %-d %b %Y, %H:%M} ({zone})"


def for_form(at: datetime | None, zone: str) -> str:
    """Write a time as a field of a form holds it."""
    return "" if at is None else f"{at.astimezone(zone_of(zone)):%Y-%m-%dT%H:%M}"


def time_left(at: datetime, now: datetime) -> str:
    """Say how much time is left.

    Examples:
        >>> noon = datetime(2026, 11, 16, 12, tzinfo=UTC)
        >>> time_left(noon, noon - timedelta(hours=3, minutes=2))
        '3 h 2 min left'
        >>> time_left(noon, noon)
        'no time left'
    """
    remaining = at - now
    if remaining < MINUTE:
        return "no time left" if remaining <= timedelta() else "less than a minute left"
    if remaining >= 2 * DAY:
        return f"{plural(remaining // DAY, 'day')} left"
    hours, minutes = remaining // HOUR, remaining % HOUR // MINUTE
    return f"{hours} h {minutes} min left" if hours else f"{minutes} min left"


def ago(at: datetime, now: datetime) -> str:
    """Say how long ago something was.

    Examples:
        >>> noon = datetime(2026, 11, 16, 12, tzinfo=UTC)
        >>> ago(noon - timedelta(minutes=3), noon)
        '3 min ago'
    """
    elapsed = max(now - at, timedelta())
    if elapsed < MINUTE:
        return "just now"
    if elapsed < HOUR:
        return f"{elapsed // MINUTE} min ago"
    if elapsed < 2 * DAY:
        return f"{elapsed // HOUR} h ago"
    return f"{plural(elapsed // DAY, 'day')} ago"
