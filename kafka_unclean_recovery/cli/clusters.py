"""--cluster NAME stands for the bootstrap servers and the client file that clusters.toml has under
the name.

    [prod]
    bootstrap-server = "b1:9092,b2:9092"
    command-config = "prod.properties"

A name must never lead to another cluster than the file says: what else names one, on the command
line or in the environment, is refused beside it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from kafka_unclean_recovery.cli.environment import from_environment, options_of, variable_of
from kafka_unclean_recovery.errors import usage

_LARGEST = 1 << 20
_SERVERS, _CLIENT = "bootstrap-server", "command-config"
_PARAMS = frozenset({"bootstrap_server", "command_config", "admin_config"})


@dataclass(frozen=True, slots=True)
class NamedCluster:
    """bootstrap_server: HOST:PORT[,...]. command_config: the client file, None for plaintext."""

    bootstrap_server: str
    command_config: Path | None = None


def clusters_file(environment: Mapping[str, str]) -> Path:
    """Return where clusters.toml is: under XDG_CONFIG_HOME, else under ~/.config."""
    home = environment.get("XDG_CONFIG_HOME") or ""
    # Where there is no home at all, "~" stays and is told as a file that is not there.
    above = Path(home if Path(home).is_absolute() else os.path.expanduser("~/.config"))  # noqa: PTH111
    return above / "kafka-unclean-recovery" / "clusters.toml"


def named_clusters(path: Path) -> dict[str, NamedCluster]:
    """Read the file. A client file's path may be relative to its directory. Raises Exit(2)."""
    # For which a run without a name should not wait.
    import tomllib

    from kafka_unclean_recovery.files import plain_files

    try:
        with plain_files.open_plain(path) as file:
            told = tomllib.loads(plain_files.whole(file, _LARGEST).decode())
    except FileNotFoundError:
        what = f'no such file; write [NAME] and {_SERVERS} = "HOST:PORT[,...]" to it'
        raise usage(f"--cluster: {path}: {what}") from None
    except OSError as error:
        raise usage(f"--cluster: {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise usage(f"--cluster: {path}: not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise usage(f"--cluster: {path}: {error}") from None
    return {name: _cluster(path, name, entry) for name, entry in told.items()}


def _cluster(path: Path, name: str, entry: object) -> NamedCluster:
    where = f"--cluster: {path}: [{name}]"
    if not isinstance(entry, dict):
        raise usage(f"{where}: write a table with {_SERVERS} and {_CLIENT}")
    if strange := sorted(entry.keys() - {_SERVERS, _CLIENT}):
        raise usage(f"{where}: no key {strange[0]}; there are {_SERVERS} and {_CLIENT}")
    servers, client = entry.get(_SERVERS), entry.get(_CLIENT)
    if not isinstance(servers, str) or not servers:
        raise usage(f'{where}: write {_SERVERS} = "HOST:PORT[,...]"')
    if client is not None and (not isinstance(client, str) or not client):
        raise usage(f'{where}: write {_CLIENT} = "FILE"')
    file = None if client is None else path.parent / os.path.expanduser(client)  # noqa: PTH111
    return NamedCluster(servers, file)


def _begin(context: typer.Context, name: str | None) -> str | None:
    """Let the flags that follow have the cluster's values."""
    if name is None:
        return None
    path = clusters_file(os.environ)
    known = named_clusters(path)
    if name not in known:
        names = ", ".join(sorted(known)) or "none"
        raise usage(f"--cluster {name}: {path} has no such cluster; it has {names}")
    found = known[name]
    values: dict[str, Any] = {"bootstrap_server": found.bootstrap_server}
    if found.command_config is not None:
        values["command_config"] = str(found.command_config)
    context.default_map = values
    return name


def named_beside(context: typer.Context) -> str | None:
    """Return what to say when something beside --cluster names a cluster; None when nothing does,
    or no cluster was named."""
    name = context.params.get("cluster")
    if name is None:
        return None
    for option in options_of(context.command):
        if option.name not in _PARAMS:
            continue
        if from_environment(context, option):
            variable = variable_of(option)
            return f"--cluster {name}: {variable} is set, and may be of another: unset it"
        source = context.get_parameter_source(option.name)
        if source is not None and source.name == "COMMANDLINE":
            return f"--cluster {name}: it stands for {option.opts[0]} too; give one of them"
    return None


ClusterName = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="NAME",
        callback=_begin,
        is_eager=True,
        help="Cluster in clusters.toml, in place of --bootstrap-server and --command-config.",
    ),
]
