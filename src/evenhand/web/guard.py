"""Who somebody is and what they may send: tokens, sessions, hosts, limits."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32: no letter looks like another."""
TOKEN_BYTES, SLUG = 16, 12
LENGTH, CODE = 26, 16
LONGEST_NAME = 200
HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([\w.-]+))(?::[0-9]{1,5})?", re.ASCII | re.I)
COOKIE = "evenhand"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    # With no-referrer browsers would hide from where even our own forms come.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-robots-tag": "noindex",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
}


def base32(data: bytes) -> str:
    """Write bytes as letters and digits that people can type.

    Examples:
        >>> base32(bytes(16)), len(base32(b"x" * 16))
        ('00000000000000000000000000', 26)
    """
    number = int.from_bytes(data)
    length = -(-len(data) * 8 // 5)
    return "".join(ALPHABET[number >> 5 * at & 31] for at in reversed(range(length)))


def fresh_token() -> str:
    """Draw a token of 128 bits."""
    return base32(secrets.token_bytes(TOKEN_BYTES))


def fresh_slug() -> str:
    """Draw the public name of an evaluation."""
    return "".join(secrets.choice(ALPHABET) for _ in range(SLUG))


def is_slug(text: str) -> bool:
    """Say whether something can be the public name of an evaluation."""
    return len(text) == SLUG and set(text) <= set(ALPHABET)


def digest(token: str) -> str:
    """Return the hash by which a token is known; what is no token has none.

    Examples:
        >>> digest(""), digest("short"), len(digest("0" * 26))
        ('', '', 64)
    """
    if len(token) != LENGTH or not token.isascii() or not token.isalnum():
        return ""
    return hashlib.sha256(token.lower().encode()).hexdigest()


def code_digest(code: str) -> str:
    """Return the hash by which a recovery code is known; what is none has none.

    Examples:
        >>> code_digest("ab12 cd34-EF56 gh78") == code_digest("AB12CD34EF56GH78")
        True
        >>> code_digest("short")
        ''
    """
    plain = "".join(code.replace("-", "").split()).lower()
    if len(plain) != CODE or not plain.isascii() or not plain.isalnum():
        return ""
    return hashlib.sha256(f"recovery:{plain}".encode()).hexdigest()


def csrf(session: str) -> str:
    """Return what every form of a session must hold."""
    return hmac.digest(session.encode(), b"csrf", "sha256").hex()


def is_csrf(session: str, token: str) -> bool:
    """Say whether a form came from a page of this session."""
    return hmac.compare_digest(csrf(session).encode(), token.encode())


def host_name(host: str) -> str | None:
    """Return the name in a Host header, None if it is not a name and maybe a port.

    Examples:
        >>> host_name("Example.org:8000"), host_name("[::1]:80"), host_name("::1")
        ('example.org', '::1', None)
        >>> host_name("127.0.0.1:80@evil.org"), host_name("a b"), host_name("")
        (None, None, None)
    """
    match = HOST.fullmatch(host)
    return None if match is None else (match[1] or match[2]).casefold()


def same_origin(origin: str | None, host: str) -> bool:
    """Say whether a request came from one of our own pages, if it says from where.

    Examples:
        >>> same_origin(None, "a:8000"), same_origin("http://a:8000", "a:8000")
        (True, True)
        >>> same_origin("http://evil", "a:8000"), same_origin("null", "a:8000")
        (False, False)
        >>> same_origin("http://[", "a:8000")
        False
    """
    try:
        return origin is None or urlsplit(origin).netloc.casefold() == host.casefold()
    except ValueError:
        return False


@dataclass(slots=True)
class Limit:
    """A bucket of permissions for each sender, filled at a steady rate.

    Attributes:
        rate: Permissions per second.
        burst: How many can be saved up.
        clock: Seconds, from anywhere.
    """

    rate: float
    burst: float
    clock: Callable[[], float] = time.monotonic
    _left: dict[str, tuple[float, float]] = field(default_factory=dict)

    def wait(self, client: str) -> float:
        """Take a permission; return how many seconds to wait if there is none.

        Examples:
            >>> limit = Limit(1, 2, lambda: 0.0)
            >>> [limit.wait("a") for _ in range(3)], limit.wait("b")
            ([0.0, 0.0, 1.0], 0.0)
        """
        now = self.clock()
        permits, at = self._left.get(client, (self.burst, now))
        permits = min(self.burst, permits + (now - at) * self.rate)
        if permits < 1:
            self._left[client] = (permits, now)
            return (1 - permits) / self.rate
        self._left[client] = (permits - 1, now)
        if len(self._left) > 50_000:
            self._left.clear()
        return 0.0
