"""Why a piece of a suite is no test."""

from __future__ import annotations

from code_a1.records import Validity


class RejectedError(Exception):
    """The assert is no test of the entry point; never leaves the package."""

    def __init__(self, reason: str, validity: Validity = Validity.MALFORMED) -> None:
        super().__init__(reason)
        self.reason = reason
        self.validity = validity
