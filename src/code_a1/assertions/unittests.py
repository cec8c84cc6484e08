"""Assertion methods of `unittest.TestCase` → the expression that each asserts."""

from __future__ import annotations

import ast
from collections.abc import Callable

ASSERT_TEMPLATES = {
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
}
"""The first two arguments of each method, in the expression that it asserts."""

ALMOST = "(lambda a, b: a == b or {test})({{0}}, {{1}})"


def asserted_expression(call: ast.Call) -> ast.expr | None:
    """What `self.assertX(...)` asserts, or None if it is no assertion method that has an expression."""
    if not isinstance(call.func, ast.Attribute) or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    name = call.func.attr
    given = {k.arg: k.value for k in call.keywords if k.arg is not None}
    if name in ("assertAlmostEqual", "assertAlmostEquals", "assertNotAlmostEqual"):
        return _almost_equal(call, given, negated="Not" in name)
    if name not in ASSERT_TEMPLATES:
        return None
    template = ASSERT_TEMPLATES[name]
    wanted = 2 if "{1}" in template else 1
    operands = [*call.args, *(v for k, v in given.items() if k in ("first", "second", "expr", "member", "container"))]
    return _filled(template, operands[:wanted]) if len(operands) >= wanted else None


def _almost_equal(call: ast.Call, given: dict[str, ast.expr], *, negated: bool) -> ast.expr | None:
    if len(call.args) < 2:
        return None
    places = call.args[2] if len(call.args) > 2 else given.get("places", ast.Constant(7))
    operands: list[ast.expr] = [*call.args[:2], places]
    test = "round(abs(a - b), {{2}}) == 0"
    if "delta" in given:
        operands[2] = given["delta"]
        test = "abs(a - b) <= {{2}}"
    template = ALMOST.format(test=test).replace("{{", "{").replace("}}", "}")
    return _filled(f"not {template}" if negated else template, operands)


def _filled(template: str, operands: list[ast.expr]) -> ast.expr:
    """The template as a tree, with the operands in place (not their source: nothing is printed and read again)."""
    slots = [f"operand_{i}" for i in range(len(operands))]
    tree = ast.parse(template.format(*slots), mode="eval").body
    return _replaced(tree, dict(zip(slots, operands, strict=True)).get)


def _replaced(tree: ast.expr, operand: Callable[[str], ast.expr | None]) -> ast.expr:
    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return operand(node.id) or node

    filled: ast.expr = Fill().visit(tree)
    return filled


def is_assertion_method(call: ast.Call) -> bool:
    """Whether the call is `self.assert…(…)`."""
    func = call.func
    return isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.attr.startswith("assert")
