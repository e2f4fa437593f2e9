"""Every command ends with one of these exit codes.

0: a run that elects has every selected partition online, with the chosen leader or by itself; a run
that elects nothing could read and plan everything; a scan of disks found nothing doubtful. 1: the
command did not reach that. 2: wrong usage or bad input, and nothing was changed. 3: no broker could
be reached, or authentication failed. 4: a command that answers a question can't tell. 129, 130,
131, 143: a signal ended the command.
"""

from __future__ import annotations

OK = 0
NOT_ALL = 1
USAGE = 2
UNREACHABLE = 3
CANNOT_TELL = 4


class Exit(Exception):
    """An error that ends the command with an exit code and a sentence for stderr."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def usage(sentence: str) -> Exit:
    return Exit(USAGE, sentence)
