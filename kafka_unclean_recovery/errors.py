"""Errors that the operator can put right: each message says where and how."""

from __future__ import annotations


class InputError(Exception):
    """A file that the operator named can't be used (exit 2).

    The message names the file, the line or the entry in it, and the fix.
    """
