"""What unittest, pytest and numpy.testing offer beside the assert statement → the expression that each asserts."""

from __future__ import annotations

import ast
import copy

from code_a1.assertions.unrolling import substitute

UNITTEST = {
    "assertEqual": "{0} == {1}",
    "assertEquals": "{0} == {1}",
    "assertNotEqual": "{0} != {1}",
    "assertTrue": "{0}",
    "assertFalse": "not {0}",
    "assertIs": "{0} is {1}",
    "assertIsNot": "{0} is not {1}",
    "assertIsNone": "{0} is None",
    "assertIsNotNone": "{0} is not None",
    "assertIn": "{0} in {1}",
    "assertNotIn": "{0} not in {1}",
    "assertIsInstance": "isinstance({0}, {1})",
    "assertNotIsInstance": "not isinstance({0}, {1})",
    "assertGreater": "{0} > {1}",
    "assertGreaterEqual": "{0} >= {1}",
    "assertLess": "{0} < {1}",
    "assertLessEqual": "{0} <= {1}",
    "assertListEqual": "{0} == {1}",
    "assertTupleEqual": "{0} == {1}",
    "assertSetEqual": "{0} == {1}",
    "assertDictEqual": "{0} == {1}",
    "assertSequenceEqual": "list({0}) == list({1})",
    "assertMultiLineEqual": "{0} == {1}",
    "assertCountEqual": "(lambda a, b: len(a) == len(b) and all(a.count(x) == b.count(x) for x in a))"
    "(list({0}), list({1}))",
    "assertRegex": "re.search({1}, {0}) is not None",
    "assertNotRegex": "re.search({1}, {0}) is None",
    "assertAlmostEqual": "(lambda a, b: a == b or round(abs(a - b), {places}) == 0)({0}, {1})",
    "assertAlmostEquals": "(lambda a, b: a == b or round(abs(a - b), {places}) == 0)({0}, {1})",
    "assertNotAlmostEqual": "not (lambda a, b: a == b or round(abs(a - b), {places}) == 0)({0}, {1})",
}
WITH_DELTA = {
    "assertAlmostEqual": "(lambda a, b: a == b or abs(a - b) <= {delta})({0}, {1})",
    "assertAlmostEquals": "(lambda a, b: a == b or abs(a - b) <= {delta})({0}, {1})",
    "assertNotAlmostEqual": "not (lambda a, b: a == b or abs(a - b) <= {delta})({0}, {1})",
}
NUMPY_TESTING = {
    "assert_equal": "np.array_equal({0}, {1})",
    "assert_array_equal": "np.array_equal({0}, {1})",
    "assert_allclose": "np.allclose({0}, {1}, rtol={rtol}, atol={atol}, equal_nan=True)",
    "assert_almost_equal": "np.all(np.abs(np.subtract({0}, {1})) < 1.5 * 10.0 ** -({decimal}))",
    "assert_array_almost_equal": "np.all(np.abs(np.subtract({0}, {1})) < 1.5 * 10.0 ** -({decimal}))",
    "assert_array_less": "np.all(np.less({0}, {1}))",
}
OPERANDS = (
    "first",
    "second",
    "expr",
    "expr1",
    "expr2",
    "obj",
    "cls",
    "member",
    "container",
    "actual",
    "desired",
    "x",
    "y",
)
"""Keywords under which the two operands may be given."""

APPROXIMATELY = """\
def approximately(value, expected, rel=None, abs=None, nan_ok=False):
    if isinstance(expected, dict):
        return value.keys() == expected.keys() and all(
            approximately(value[key], expected[key], rel, abs, nan_ok) for key in expected
        )
    if isinstance(expected, (list, tuple)):
        return len(value) == len(expected) and all(
            approximately(v, e, rel, abs, nan_ok) for v, e in zip(value, expected)
        )
    if value == expected or isinstance(expected, bool) or not isinstance(expected, (int, float, complex)):
        return value == expected
    if expected != expected:
        return nan_ok and value != value
    tolerance = 1e-12 if abs is None else abs
    if rel is not None or abs is None:
        tolerance = max(tolerance, (1e-6 if rel is None else rel) * expected.__abs__())
    return (value - expected).__abs__() <= tolerance < float("inf")
"""
"""`pytest.approx` for plain values, since its objects cannot be compared away from pytest."""


def asserted_expression(call: ast.Call) -> ast.expr | None:
    """What an assertion function or method asserts, or None if it asserts nothing that an expression can say."""
    name = _name(call)
    given = {k.arg: k.value for k in call.keywords if k.arg is not None}
    if isinstance(call.func, ast.Attribute) and not isinstance(call.func.value, ast.Name):
        template = NUMPY_TESTING.get(name)
    else:
        template = (WITH_DELTA if "delta" in given else UNITTEST).get(name) or NUMPY_TESTING.get(name)
    if template is None or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    operands = [*call.args, *(given[k] for k in OPERANDS if k in given)]
    wanted = 2 if "{1}" in template else 1
    if len(operands) < wanted:
        return None
    third = call.args[2] if len(call.args) > 2 else None
    settings: dict[str, ast.expr] = {
        "places": third or given.get("places") or ast.Constant(7),
        "decimal": third or given.get("decimal") or ast.Constant(6 if "array" in name else 7),
        "rtol": third or given.get("rtol") or ast.Constant(1e-7),
        "atol": given.get("atol") or ast.Constant(0),
        "delta": given.get("delta") or ast.Constant(0),
    }
    slots = {f"operand_{i}": operand for i, operand in enumerate(operands[:wanted])}
    text = template.format(*slots, **{key: f"setting_{key}" for key in settings})
    return substitute(ast.parse(text, mode="eval").body, slots | {f"setting_{k}": v for k, v in settings.items()})


def is_assertion(call: ast.Call) -> bool:
    """Whether the call is an assertion of a framework, such as `self.assertEqual` or `np.testing.assert_equal`."""
    name = _name(call)
    if isinstance(call.func, ast.Name):
        return name in UNITTEST or name in NUMPY_TESTING
    return name.startswith("assert") or (name == "raises" and isinstance(call.func, ast.Attribute))


def _name(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


class _Approx(ast.NodeTransformer):
    def __init__(self) -> None:
        self.found = False

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
            return node
        sides = [node.left, node.comparators[0]]
        for side, other in (sides, sides[::-1]):
            if isinstance(side, ast.Call) and _name(side) == "approx" and side.args:
                self.found = True
                call = ast.Call(ast.Name("approximately", ast.Load()), [other, *side.args], side.keywords)
                return call if isinstance(node.ops[0], ast.Eq) else ast.UnaryOp(ast.Not(), call)
        return node


def without_approx(test: ast.expr) -> ast.expr | None:
    """The expression with comparisons to `pytest.approx(…)` made calls of `approximately`; None if it has none."""
    if not any(isinstance(n, ast.Call) and _name(n) == "approx" for n in ast.walk(test)):
        return None
    rewriting = _Approx()
    rewritten: ast.expr = rewriting.visit(copy.deepcopy(test))
    return rewritten if rewriting.found else None
