"""The console scripts start here: help, the version and an unknown flag are answered from files,
before the parser is imported, and so is a command line of no words.

The parser takes several times as long to import as Python takes to start. `make completions` writes
the files of `help/` from the parser, and a test compares both answers. Whatever needs more than the
files goes to the parser: other lines where variables give flags, a narrow terminal, a stream that
takes nothing.
"""

import os
import sys

from kafka_unclean_recovery import __version__
from kafka_unclean_recovery.cli import ELECTION, RECOVERY

COLUMNS = 80
"""The parser makes no use of a terminal's columns beyond these."""
_LOST, _USAGE = 1, 2
_HELP = os.path.join(os.path.dirname(os.path.dirname(__file__)), "help")  # noqa: PTH118, PTH120
_INCIDENT = f"""\
In an incident, in this order:

  {RECOVERY} look --bootstrap-server HOST:PORT
      Look: how far each surviving replica goes, and what electing it loses. Changes nothing.
  {RECOVERY} elect --bootstrap-server HOST:PORT
      Elect the replicas that lose least, after a question.
  {RECOVERY} aftercare --bootstrap-server HOST:PORT
      Afterwards: transactions that hang, groups, brokers that return.

Before one: {RECOVERY} doctor --bootstrap-server HOST:PORT
With TLS or a login, add --command-config client.properties. The rest: {RECOVERY} --help
"""
_FORMAT = " (give --format json)"
_HABITS = {
    "--dry-run": " (only --automated-recovery changes anything; --show-replica-info plans)",
    "--topic": " (--topics chooses topics, --path-to-json-file partitions)",
    "--verbose": " (--format wide shows all rows, --format json everything)",
    "-v": " (--format wide shows all rows, --format json everything)",
    "-o": _FORMAT,
    "--execute": " (give --automated-recovery)",
}
_CHOICES = _ALL, _SOME, _ELECTS = (
    "--all-offline-partitions",
    "--path-to-json-file",
    "--automated-recovery",
)
_WORDS = {"look": "--show-replica-info", "elect": _ELECTS}
# Variables that give flags, and those that change how Python writes texts.
_FLAGS = "KAFKA_UNCLEAN_RECOVERY"
_WRITING = ("PYTHONIOENCODING", "PYTHONUTF8")


def unclean_recovery() -> None:
    """Run kafka-unclean-recovery as its console script does."""
    _run(RECOVERY)


def elect_leaders() -> None:
    """Run kafka-elect-leaders as its console script does."""
    _run(ELECTION)


def _run(name: str) -> None:
    args = as_parsed(sys.argv[1:])
    args = with_flags(args) if name == RECOVERY else args
    code = answered(name, args)
    if code is None:
        sys.argv[1:] = args
        from kafka_unclean_recovery.cli.entry import main

        main(name)
    sys.exit(code)


def as_parsed(args: list[str]) -> list[str]:
    """Return the command line with --help where help is asked for by another word."""
    if args[:1] == ["help"]:
        return [*args[1:], "--help"]
    if args[-1:] == ["-h"]:
        return [*args[:-1], "--help"]
    return args


def with_flags(args: list[str]) -> list[str]:
    """Return the command line with the KIP's flags in place of the words `look` and `elect`, about
    all offline partitions where none are chosen. A look that would elect is left as it is: there
    is no such command."""
    does = _WORDS.get(args[0]) if args else None
    rest = args[1:]
    by_words = {word.partition("=")[0] for word in rest}
    given = {flag for flag in _CHOICES if flag in by_words or _variable(flag) in os.environ}
    if does is None or (args[0] == "look" and _ELECTS in given):
        return args
    if rest[-1:] == ["--help"]:
        return rest
    return [*([] if given & {_ALL, _SOME} else [_ALL]), does, *rest]


def _variable(flag: str) -> str:
    return f"{_FLAGS}_{flag[2:].replace('-', '_').upper()}"


def hint_for(path: str, flag: str) -> str:
    """Return what to give in place of a flag that other tools have; "" for any other flag."""
    if path == RECOVERY:
        return _HABITS.get(flag, "")
    return _FORMAT if flag in ("-o", "--output-format") else ""


def answered(name: str, args: list[str]) -> int | None:
    """Answer the command line, and return its exit code; None when only the parser can."""
    if any(key.startswith(_WRITING) for key in os.environ):
        return None
    try:
        return _answered(name, args) if _columns() >= COLUMNS else None
    except OSError:
        return None


def help_file(path: str) -> str:
    """Return the name of the file with the help of a command. path: its words."""
    return f"{path.replace(' ', '_')}.txt"


def _answered(name: str, args: list[str]) -> int | None:
    if args == ["--version"]:
        return _written(1, f"{name} {__version__}\n", 0)
    given = any(key.startswith(_FLAGS) for key in os.environ)
    if name == RECOVERY and not args and not given:
        return _written(2, _INCIDENT, _USAGE)
    if not any(arg.startswith("--") for arg in args):
        return None
    if name == RECOVERY and not given and _completes_without_a_cluster(args):
        return 0
    flags, path, rest = _flags(), name, list(args)
    while rest and f"{path} {rest[0]}" in flags:
        path = f"{path} {rest.pop(0)}"
    if rest == ["--help"]:
        return _written(1, _read(help_file(path)), 0)
    if given:
        return None
    is_group = any(other.startswith(f"{path} ") for other in flags)
    unknown = _first_unknown(rest, flags[path], is_group)
    if unknown is None:
        return None
    return _written(2, _refusal(path, unknown, flags[path]), _USAGE)


def _completes_without_a_cluster(args: list[str]) -> bool:
    """Return True for `complete KIND -- LINE` with a line that names no cluster to ask. The names
    of clusters are in a file."""
    complete, kind, dashes, line = args if len(args) == 4 else [""] * 4
    asks = ("topics", "brokers", "down-brokers", "offline-brokers", "racks")
    known = complete == "complete" and kind in asks and dashes == "--"
    return known and "--bootstrap-server" not in line and "--cluster" not in line


def _flags() -> dict[str, list[str]]:
    """Return the flags of each command by its words; "=" ends a flag that takes a value."""
    lines = (line.split("\t") for line in _read("flags.txt").splitlines())
    return {path: flags.split(" ") for path, flags in lines}


def _first_unknown(args: list[str], flags: list[str], is_group: bool) -> str | None:
    """Return the first flag that is unknown; None without one, or when a word before it may be
    wrong. is_group: a word that is no flag would be a command."""
    words = iter(args)
    for word in words:
        flag, equals, _ = word.partition("=")
        if not word.startswith("-") or word == "-":
            if is_group:
                return None
        elif f"{flag}=" in flags:
            if not equals and next(words, None) is None:
                return None
        elif flag not in flags:
            plain = flag.isascii() and flag.isprintable()
            return flag if plain and flag.startswith("--") and flag != "--" else None
        elif equals:
            return None
    return None


def _refusal(path: str, flag: str, flags: list[str]) -> str:
    """Return what the parser says of an unknown flag."""
    from difflib import get_close_matches

    alike = sorted(get_close_matches(flag, [each.rstrip("=") for each in flags]))
    hint = f" (Possible options: {', '.join(alike)})" if alike else ""
    usage = _read(help_file(path)).partition("\n\n")[0]
    hint = hint_for(path, flag) or hint
    return f"{usage}\nTry '{path} --help' for help.\n\nError: No such option: {flag}{hint}\n"


def _columns() -> int:
    """Return the columns of the terminal, as the parser counts them."""
    try:
        columns = int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        columns = 0
    if columns > 0:
        return columns
    try:
        return os.get_terminal_size(1).columns or COLUMNS
    except OSError:
        return COLUMNS


def _read(name: str) -> str:
    with open(os.path.join(_HELP, name), encoding="ascii") as file:  # noqa: PTH118, PTH123
        return file.read()


def _written(descriptor: int, text: str, code: int) -> int:
    """Write the text, and return the code. Raises OSError when nothing could be written."""
    data = text.encode()
    left = data
    try:
        while left:
            left = left[os.write(descriptor, left) :]
    except OSError:
        if left is data:
            raise
        return code or _LOST
    return code
