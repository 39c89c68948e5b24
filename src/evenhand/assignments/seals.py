"""Seals: a secret seed, and the hash of it that may be published first."""

from __future__ import annotations

import hashlib
import re
import secrets

from evenhand.errors import OptionError

PREFIX = "evenhand.seal/1:"
BYTES = 32
SECRET = re.compile(r"[0-9a-f]{64}")


def fresh_secret() -> str:
    """Draw a secret of 256 bits, as 64 hexadecimal digits.

    Examples:
        >>> len(fresh_secret())
        64
    """
    return secrets.token_hex(BYTES)


def seal_of(secret: str) -> str:
    """Return the seal of a secret, which tells nothing about it.

    Raises:
        OptionError: If it is not a text of 64 hexadecimal digits.

    Examples:
        >>> seal_of("0" * 64)[:8]
        '45bc2e65'
    """
    if not isinstance(secret, str) or not SECRET.fullmatch(secret):
        # The value itself is never shown: it may be a secret with a slip in it.
        raise OptionError("secret must be 64 hexadecimal digits in lower case.")
    return hashlib.sha256(f"{PREFIX}{secret}".encode()).hexdigest()
