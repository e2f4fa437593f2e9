"""`python -m tests.structure [TREE]`: the map of the package as its imports draw it, as JSON.

A room is a directory of modules, or a module of the root; an arrow says that one room imports
another; a circle is a set of modules that import each other on some way; the longest chain is that
of rooms which import the next, circles taken as one. Sizes are of product, tests and both.
"""

from __future__ import annotations

import ast
import json
import statistics
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

NAME = "kafka_unclean_recovery"

Graph = Mapping[str, Collection[str]]
"""What each imports."""


@dataclass(frozen=True, slots=True)
class Module:
    """name: dotted. lines: of its file."""

    name: str
    lines: int
    tree: ast.Module

    @property
    def room(self) -> str:
        parts = self.name.split(".")
        return ".".join(parts[:-1]) if len(parts) > 2 else self.name


@cache
def modules_below(root: Path) -> Sequence[Module]:
    """Return the modules of one package, without what its directories are named by. A process reads
    them once: a tree of them takes seconds."""
    found = []
    for path in sorted(root.rglob("*.py")):
        if path.name == "__init__.py":
            continue
        text = path.read_text()
        name = ".".join(path.relative_to(root.parent).with_suffix("").parts)
        found.append(Module(name, len(text.splitlines()), ast.parse(text)))
    return tuple(found)


def imports(modules: Iterable[Module]) -> dict[str, set[str]]:
    """Return which of the others each module imports."""
    known = {module.name: module for module in modules}
    return {
        name: {target for target in _imported(module.tree) if target in known} - {name}
        for name, module in known.items()
    }


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rooms(modules: Iterable[Module], graph: Graph) -> dict[str, set[str]]:
    """Return, by room, the other rooms that its modules import."""
    room = {module.name: module.room for module in modules}
    found: dict[str, set[str]] = {name: set() for name in room.values()}
    for name, targets in graph.items():
        found[room[name]] |= {room[target] for target in targets} - {room[name]}
    return found


def circles(graph: Graph) -> list[list[str]]:
    """Return each circle as its sorted members (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in sorted(graph[name]):
            if target not in index:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], index[target])
        if low[name] == index[name]:
            members = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            found.append(sorted(members))

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return [members for members in found if len(members) > 1]


def longest_chain(graph: Graph) -> list[str]:
    """Return its members, from who imports to who is imported."""
    one = {member: members[0] for members in circles(graph) for member in members}
    whole: dict[str, set[str]] = {}
    for name, targets in graph.items():
        own = one.get(name, name)
        whole.setdefault(own, set()).update(one.get(target, target) for target in targets)
    chains: dict[str, list[str]] = {}

    def chain(name: str) -> list[str]:
        if name not in chains:
            below = (chain(target) for target in sorted(whole[name] - {name}))
            chains[name] = [name, *max(below, key=len, default=[])]
        return chains[name]

    return max(map(chain, sorted(whole)), key=len, default=[])


def sizes(modules: Collection[Module]) -> dict[str, object]:
    """Return the lines of modules and functions as median, 90th percentile and most."""
    functions = [
        node
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    public = [node for node in functions if not node.name.startswith("_")]
    return {
        "modules": len(modules),
        "lines": sum(module.lines for module in modules),
        "module_lines": _spread([module.lines for module in modules]),
        "modules_under_40": sum(module.lines < 40 for module in modules),
        "functions": len(functions),
        "function_lines": _spread([(n.end_lineno or n.lineno) - n.lineno + 1 for n in functions]),
        "public_functions_with_docstring": _share(public),
    }


def _spread(numbers: list[int]) -> dict[str, int]:
    ordered = sorted(numbers)
    if not ordered:
        return {}
    return {
        "median": round(statistics.median(ordered)),
        "p90": ordered[int(0.9 * (len(ordered) - 1))],
        "most": ordered[-1],
    }


def _share(nodes: Collection[ast.FunctionDef | ast.AsyncFunctionDef]) -> float:
    with_one = sum(ast.get_docstring(node) is not None for node in nodes)
    return round(with_one / len(nodes), 2) if nodes else 0.0


def structure(tree: Path) -> dict[str, object]:
    """Return the structure of a working tree."""
    product, tests = modules_below(tree / NAME), modules_below(tree / "tests")
    graph = imports(product)
    of_rooms = rooms(product, graph)
    importers = {name: sum(name in targets for targets in graph.values()) for name in graph}
    return {
        "files_in_the_root": len(list((tree / NAME).glob("*.py"))),
        "packages": len({m.room for m in product if m.room != m.name}),
        "rooms": len(of_rooms),
        "arrows": sum(map(len, of_rooms.values())),
        "circles": circles(graph),
        "circles_of_rooms": circles(of_rooms),
        "longest_chain": longest_chain(of_rooms),
        "modules_with_one_importer": sum(count == 1 for count in importers.values()),
        "product": sizes(product),
        "tests": sizes(tests),
    }


if __name__ == "__main__":
    given = sys.argv[1:] or [str(Path(__file__).parents[1])]
    print(json.dumps(structure(Path(given[0])), indent=1))
