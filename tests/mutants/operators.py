"""Small changes of a module's source, each of which should make a test fail."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

_FLIPS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_SWAPS: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add}
_CALLS = {"max": "min", "min": "max", "any": "all", "all": "any"}
_REMOVED = (ast.Expr, ast.Assign, ast.AugAssign, ast.Raise, ast.Continue, ast.Break, ast.Delete)


@dataclass(frozen=True, slots=True)
class Mutant:
    """`start` and `end` are offsets into the UTF-8 of the module, `new` what stands there."""

    line: int
    start: int
    end: int
    new: str

    def of(self, source: bytes) -> bytes:
        return source[: self.start] + self.new.encode() + source[self.end :]


def mutants(source: bytes, functions: frozenset[str] = frozenset()) -> list[Mutant]:
    """Return the mutants of these functions, or of all and of the defaults in classes."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = [
        Mutant(node.lineno, _at(starts, node, "lineno"), _at(starts, node, "end_lineno"), new)
        for root in _roots(ast.parse(source), functions)
        for node, new in _changes(root)
    ]
    return sorted(set(found), key=lambda mutant: (mutant.start, mutant.end, mutant.new))


def _at(starts: list[int], node: ast.expr | ast.stmt, which: str) -> int:
    column = node.col_offset if which == "lineno" else (node.end_col_offset or 0)
    return starts[int(getattr(node, which)) - 1] + column


def _roots(module: ast.Module, functions: frozenset[str]) -> Iterator[ast.AST]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not functions or node.name in functions:
                yield from (node.args.defaults + [d for d in node.args.kw_defaults if d])
                yield from node.body
        elif isinstance(node, ast.ClassDef) and not functions:
            yield from (s.value for s in node.body if isinstance(s, ast.AnnAssign) and s.value)


def _nodes(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Yield the nodes without annotations, texts and functions, which are their own roots."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.JoinedStr):
        return
    if isinstance(node, ast.expr | ast.stmt):
        yield node
    for name, value in ast.iter_fields(node):
        if name != "annotation":
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _nodes(child)


def _changes(root: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Yield (what is replaced, by what)."""
    for node in _nodes(root):
        if isinstance(node, ast.stmt):
            yield from ((node, ast.unparse(change)) for change in _of_statement(node))
        else:
            yield from ((node, f"({ast.unparse(change)})") for change in _of_expression(node))
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            yield node.test, f"(not ({ast.unparse(node.test)}))"


def _of_statement(node: ast.stmt) -> Iterator[ast.AST]:
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if isinstance(node, _REMOVED) and not docstring:
        yield ast.Pass()
    if isinstance(node, ast.AugAssign):
        yield ast.Assign([node.target], node.value, lineno=node.lineno)
    if isinstance(node, ast.Return) and not _is_none(node.value):
        yield ast.Return(ast.Constant(None))


def _of_expression(node: ast.expr) -> Iterator[ast.AST]:
    yield from _of_condition(node)
    yield from _of_number(node)
    yield from _of_several(node)


def _of_condition(node: ast.expr) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=[op]):
            yield _with(node, ops=[_FLIPS[type(op)]()])
            yield ast.Constant(True)
            yield ast.Constant(False)
        case ast.BoolOp():
            yield _with(node, op=ast.And() if isinstance(node.op, ast.Or) else ast.Or())
            yield from node.values
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.IfExp():
            yield node.body
            yield node.orelse


def _of_number(node: ast.expr) -> Iterator[ast.AST]:
    match node:
        case ast.UnaryOp(op=ast.USub()):
            yield node.operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)
        case ast.BinOp(op=ast.BitOr()) | ast.BinOp(op=ast.FloorDiv()):
            yield node.left
            yield node.right
        case ast.BinOp(op=op) if type(op) in _SWAPS:
            yield _with(node, op=_SWAPS[type(op)]())


def _of_several(node: ast.expr) -> Iterator[ast.AST]:
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
            yield _with(node, func=ast.Name(_CALLS[name]))
        case ast.Call(args=[first, second, *rest]):
            yield _with(node, args=[second, first, *rest])
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            one = node.generators[0]
            if one.ifs:
                yield _with(node, generators=[_with(one, ifs=[]), *node.generators[1:]])
        case ast.Tuple(elts=[_, _, *_], ctx=ast.Load()):
            yield from (_with(node, elts=[e for e in node.elts if e is not x]) for x in node.elts)


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _is_none(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)
