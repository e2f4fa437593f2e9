"""The errors that end a command, the exit codes, and the tree of all errors.

A number is the exit code of a command that talks to a cluster and that the error ends; below it the
same code holds. A file is where a class stands that is not here, beside what raises it.

    Exception
      Exit                          its own
        InputError                  2
          ConfigError
          ClustersMixed                      cluster/wire/errors.py
          NotOffered                         transport/choosing.py
          NoSession                          spark/session.py
      NotMasked                              bundle/masking.py
      Unsure                        1        cluster/controller.py
      RequestFailed                 1        cluster/requests/describe.py
      ConnectionFailed              3        cluster/wire/errors.py
      NoBrokerReachable             3        cluster/wire/errors.py
        NoControllerReachable                cluster/wire/errors.py
      JournalError                  2        documents/journal_lines.py
        JournalBusy                          files/journal.py
      HangUp                                 emulator/listener/carrying_out.py
      Silence                                emulator/listener/carrying_out.py
      NotAsked                               emulator/listener/wire.py
      LoginFailed                            emulator/security/sasl.py
      Refused                                emulator/security/scram.py
      ControllerFault                        kraft_rules/state.py
      BadFormat                              log_dir/errors.py
      Crash                                  log_dir/start/text_files.py
      DiskError                              log_dir/start/text_files.py
      Unreadable                             log_dir/tree.py
        NoOwner                              log_dir/log_directory.py
        EndsBroker                           log_dir/start/fate.py
      Stopped                                log_dir/watching.py
      SeedRefused                            metadata_quorum/seed.py
      MissingRight                  1        recovery/views.py
      QuorumSilent                  1        recovery/views.py
      TailLost                               salvage/live/fetching.py
      NotReached                             salvage/replay/producing.py
      ProducingFailed                        salvage/replay/producing.py
        GroupFailed                          salvage/offsets/groups.py
      Interrupted                            shutdown.py
      JobFailed                              spark/running.py
      Behind                                 survey/currency.py
      NotSent                                transport/gate.py
        LookTooOld                           transport/gate.py
        StopAsked                            transport/gate.py
      NotSeen                                transport/replica_order.py
    ValueError
      TooLarge                               cluster/config/named_files.py
      TooCheap                               cluster/wire/scram.py
      BadEscape                              documents/reading/java_properties.py
      Refused                                emulator/administration.py
      BadCommand                             emulator/control/commands.py
        NotDone                              emulator/control/commands.py
      Misshapen                              emulator/listener/request_shape.py

0: a run that elects has every selected partition online, with the chosen leader or by itself; a run
that elects nothing could read and plan everything; a scan of disks found nothing doubtful. 1: the
command did not reach that, or its journal failed after it had sent something. 2: wrong usage or bad
input, and nothing was changed. 3: no broker could be reached, or authentication failed. 4: a
command that answers a question can't tell. 129, 130, 131, 143: a signal ended the command.
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


class InputError(Exit):
    """What the operator named can't be used. The message names the file, the line or the entry in
    it, and the fix."""

    def __init__(self, sentence: str) -> None:
        super().__init__(USAGE, sentence)


class ConfigError(InputError):
    """A client file or an option can't be used. The message names the file, the key and the fix,
    and never a value."""


def usage(sentence: str) -> Exit:
    return Exit(USAGE, sentence)
