"""Exit codes, and the errors that carry them.

0: every partition of the input set is online with the leader chosen, or by itself; of a run that
elects nothing: everything could be read and planned; of a scan of disks: nothing read is in doubt.
1: otherwise. 2: usage or bad input, nothing was changed. 3: no broker could be reached, or
authentication failed. 129, 130, 131, 143: a signal.
"""

from __future__ import annotations

OK = 0
NOT_ALL = 1
USAGE = 2
UNREACHABLE = 3


class Exit(Exception):
    """Ends the command with a code and a sentence for stderr."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def usage(sentence: str) -> Exit:
    return Exit(USAGE, sentence)
