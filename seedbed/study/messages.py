"""Code without its messages: two files that compute the same and differ in messages alone have equal syntax trees."""

import ast

OF_BARS = {"desc", "unit"}
"""Arguments, by name, that `tqdm` shows."""
LOGS = {"log", "logger", "logging", "warnings"}
TELLING = {"debug", "info", "warning", "error", "exception", "critical", "warn"}
"""Methods of LOGS that log or print."""
PURE = {"all", "any", "bool", "isinstance", "len", "max", "min", "set", "sorted", "sum"}
"""Functions that change nothing: a condition of these alone is removed with the messages that it guards."""


def strip_messages(tree: ast.Module, package: str) -> ast.Module:
    """Remove from a file's syntax tree, in place, what changes no result; imports get their full names.

    Removed are docstrings, the arguments of errors that are raised and of `sys.exit`, calls that log or print, texts of
    progress bars, texts that are built only for these, type annotations of functions, and the code that runs if the
    file is called as a program.

    Args:
        package: the file's package, for relative imports.
    """
    return _Made(package).visit(tree)


class _Made(ast.NodeTransformer):
    def __init__(self, package: str) -> None:
        self.package = package

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        """Remove a statement that is a text, or a call that logs or prints."""
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text or _tells(node.value) else self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.Raise:
        """An error by its type alone."""
        kind = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return ast.Raise(exc=kind, cause=None)

    def visit_Call(self, node: ast.Call) -> ast.Call:
        """A call without arguments that are only printed."""
        name = _name(node.func)
        node.keywords = [one for one in node.keywords if name != "tqdm" or one.arg not in OF_BARS]
        node.args = [] if name == "sys.exit" else node.args
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.If | None:
        """A condition; None if only messages depend on it, and for `if __name__ == "__main__"`."""
        if isinstance(node.test, ast.Compare) and _name(node.test.left) == "__name__":
            return None
        return _if(self.generic_visit(node))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        """An import by its whole name."""
        if node.level:
            above = self.package.split(".")[: len(self.package.split(".")) - node.level + 1]
            node.module, node.level = ".".join(filter(None, [*above, node.module])), 0
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        """A function without type annotations, and without texts that nothing reads any more."""
        node.returns = None
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        node = self.generic_visit(node)
        while _Unread(node).goes:
            pass
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self.visit_FunctionDef(node)


def _if(node: ast.If) -> ast.If | None:
    """A condition; None if nothing depends on it."""
    empty = not [one for one in (*node.body, *node.orelse) if not isinstance(one, ast.Pass)]
    return None if empty and _is_pure(node.test) else node


def _tells(value: ast.expr) -> bool:
    """Whether a call logs, warns or prints to the screen."""
    if not isinstance(value, ast.Call):
        return False
    owner, _, method = _name(value.func).partition(".")
    if owner in LOGS and method in TELLING:
        return True
    files = [_name(one.value) for one in value.keywords if one.arg == "file"]
    return _name(value.func) == "print" and {*files} <= {"sys.stderr", "sys.stdout"}


def _name(value: ast.expr) -> str:
    """A name, or that of an attribute with its owner's; empty: it is neither."""
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        return f"{value.value.id}.{value.attr}"
    return value.id if isinstance(value, ast.Name) else ""


def _is_pure(test: ast.expr) -> bool:
    """Whether evaluating a condition changes nothing."""
    for node in ast.walk(test):
        if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            return False
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in PURE):
            return False
    return True


class _Unread(ast.NodeTransformer):
    """Remove from a function, in place, assignments of texts to names that it does not use.

    `goes` says whether there were any.
    """

    def __init__(self, function: ast.AST) -> None:
        every = [*ast.walk(function)]
        self.kept = {name for node in every if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
        names = (node for node in every if isinstance(node, ast.Name))
        self.kept |= {node.id for node in names if not isinstance(node.ctx, ast.Store)}
        self.goes = False
        self.generic_visit(function)

    def visit_Assign(self, node: ast.Assign) -> ast.Assign | None:
        names = [getattr(target, "id", None) for target in node.targets]
        if None in names or self.kept.intersection(names) or not _is_text(node.value):
            return node
        self.goes = True
        return None

    def visit_If(self, node: ast.If) -> ast.If | None:
        return _if(self.generic_visit(node))


def _is_text(value: ast.expr) -> bool:
    """Whether an expression is certainly a string that is built of others."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, str)
    if isinstance(value, ast.IfExp):
        return _is_text(value.body) and _is_text(value.orelse)
    if isinstance(value, ast.BinOp):
        return _is_text(value.left) or _is_text(value.right)
    joins = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "join"
    return isinstance(value, ast.JoinedStr) or (joins and _is_text(value.func.value))
