"""The faults that tools/mutate plants: finds places for them in the syntax tree of a C++ source.

Signs, terms, indices, axes, comparisons, conditions, constants, and gradients that are not added up. A fault replaces
some bytes of a file; mutants() lists all faults of a file in order.
"""
import collections
import re

import tree_sitter
import tree_sitter_cpp

parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))

# Nodes that do not affect a result: messages, checks at compile time, sizes of pieces, and the allowed values of an
# option, such as the {0, 1} of {"first", 0, {0, 1}, "smallest position"}.
passed_over = {"static_assert_declaration", "throw_statement", "string_literal", "template_argument_list", "comment",
               "ERROR", "attribute_declaration", "array_declarator", "lambda_capture_specifier", "concatenated_string",
               "preproc_include", "preproc_def", "preproc_function_def", "preproc_call"}
no_result = re.compile(rb"^(fmt::\w+|bad_input|failure|\w+(\.|->)reserve)$|grain|per_piece")

Mutant = collections.namedtuple("Mutant", "file kind start end after")


def text(node):
    return node.text.decode()


def faults(node):
    """The faults of one node: (kind, the node that is replaced, its replacement)."""
    field, parent = node.child_by_field_name, node.parent
    if node.type == "binary_expression":
        left, right, sign = field("left"), field("right"), text(field("operator"))
        if b'"' in node.text or b"'" in node.text:
            return
        other = {"+": "-", "-": "+", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&", "==": "!=",
                 "!=": "=="}.get(sign)
        if other:
            kind = "sign" if sign in "+-" else "logic" if sign in ("&&", "||") else "comparison"
            yield kind, field("operator"), other
        if sign in ("+", "-", "*", "/"):
            yield "dropped term", node, text(left)
        if sign in ("+", "*"):
            yield "dropped term", node, text(right)
        if sign == "+" and left.type == "binary_expression" and text(left.child_by_field_name("operator")) == "*":
            a, b = (text(left.child_by_field_name(side)) for side in ("left", "right"))
            yield "axis", node, f"({text(right)}) * {b} + {a}"
            yield "axis", node, f"{a} * ({text(right)}) + {b}"
    elif node.type == "unary_expression" and text(field("operator")) in ("-", "!"):
        yield "sign" if text(field("operator")) == "-" else "logic", node, text(field("argument"))
    elif node.type == "assignment_expression" and text(field("operator")) in ("+=", "-=", "*="):
        if b'"' in node.text:
            return
        if text(field("operator")) != "*=":
            yield "sign", field("operator"), "-=" if text(field("operator")) == "+=" else "+="
            yield "stale gradient", field("operator"), "="
        yield "dropped term", node, text(field("left"))
    elif node.type == "subscript_argument_list" and node.named_child_count == 1:
        inside = text(node.named_children[0])
        yield "index", node, "[1]" if inside == "0" else f"[{inside} + 1]"
        yield "index", node, "[1]" if inside == "0" else f"[{inside} - 1]"
    elif node.type == "expression_statement" and node.named_child_count and \
            node.named_children[0].type == "call_expression" and re.search(rb"grad|backward", node.text):
        yield "stale gradient", node, ";"
    elif node.type in ("argument_list", "initializer_list"):
        plain = {"identifier", "field_expression", "call_expression", "qualified_identifier"}
        if re.match(rb"std::(max|min)\b", parent.text) or re.match(rb"std::(max|min)\b", parent.parent.text):
            return                                                   # the order of these does not matter
        for a, b in zip(node.named_children, node.named_children[1:]):
            if a.type in plain and a.type == b.type and a.text != b.text and b"\n" not in a.text + b.text:
                between = node.text[a.end_byte - node.start_byte:b.start_byte - node.start_byte].decode()
                yield "axis", (a.start_byte, b.end_byte), text(b) + between + text(a)
    elif node.type == "number_literal" and parent.type not in ("subscript_argument_list", "case_statement"):
        call = parent.parent
        if parent.type == "argument_list" and call.type == "call_expression" and \
                re.search(r"\b(dim|size)$", text(call.children[0])):
            yield "axis", node, {"-1": "-2", "-2": "-1", "0": "1", "1": "0"}.get(text(node), "0")
        elif re.fullmatch(r"-?\d+", text(node)):
            yield "constant", node, str(int(text(node)) + 1)
        elif number := re.fullmatch(r"(-?\d+\.\d*|\d*\.\d+|\d+\.?e-?\d+|\d+\.\d*e-?\d+)(f?)", text(node)):
            yield "constant", node, (repr(float(number[1]) * 2) if float(number[1]) else "1.0") + number[2]


def mutants(file, source):
    """All faults of a file, in order."""
    found = []

    def visit(node):
        if node.type in passed_over:
            return
        named = node.child_by_field_name("function" if node.type == "call_expression" else "declarator")
        while named and named.child_by_field_name("declarator"):
            named = named.child_by_field_name("declarator")          # the name of a function, without parameters
        if named and no_result.search(named.text):
            return
        if node.type == "initializer_list" and node.parent.type == "initializer_list" and \
                node.parent.named_children[0].type == "string_literal":
            return
        for kind, where, after in faults(node):
            start, end = where if isinstance(where, tuple) else (where.start_byte, where.end_byte)
            if source[start:end] != after.encode():
                found.append(Mutant(file, kind, start, end, after))
        cut = node.type == "argument_list" and text(node.parent.children[0]) == "parallel_ranges"
        for child in node.children:
            if not cut or child != node.named_children[1]:           # not the least size of a piece
                visit(child)

    visit(parser.parse(source).root_node)
    return found


def function_around(mutant, source):
    """The first and the last line of the outermost function around a mutant; None if the compiler may run the function,
    or if there is none, as for a list at the top of a file."""
    found, node = None, parser.parse(source).root_node.descendant_for_byte_range(mutant.start, mutant.end)
    while node:
        if node.type in ("function_definition", "lambda_expression"):
            found = node
        node = node.parent
    if not found or b"constexpr" in found.text or b"consteval" in found.text:
        return None
    return found.start_point[0] + 1, found.end_point[0] + 1


def errors(source):
    """The number of places that the parser cannot read: some macros in the sources, and code that a mutant breaks."""
    def count(node):
        return (node.type == "ERROR" or node.is_missing) + sum(map(count, node.children)) if node.has_error else 0
    return count(parser.parse(source).root_node)


def planted(mutant, source):
    """(the new source, the line's number, the line before and after the change)"""
    first, last = source.rfind(b"\n", 0, mutant.start) + 1, source.find(b"\n", mutant.end)
    after = source[first:mutant.start] + mutant.after.encode() + source[mutant.end:last]
    return (source[:first] + after + source[last:], source.count(b"\n", 0, mutant.start) + 1,
            source[first:last].decode().strip(), after.decode().strip())


def self_test():
    """The number of faults found in a small source. Checks that the expected ones are found, and that each leaves a
    source that can be parsed."""
    source = b"""void f(float* y, const float* x, int n) {
  bad_input("a + b", 1 + 2);
  static_assert(1 < 2);
  for (int i = 0; i < n && !x[i]; ++i) y[i * n + 3] += -x[i] * 0.5f;
  run.scale_backward(x.grad(), n);
  g(x.dim(-1), {rows, columns});
  vector<int, 3> v;
}
"""
    found = {(m.kind, source[m.start:m.end].decode(), m.after) for m in mutants("f.cpp", source)}
    expected = {("comparison", "<", "<="), ("logic", "&&", "||"), ("logic", "!x[i]", "x[i]"),
                ("index", "[i]", "[i + 1]"), ("index", "[i * n + 3]", "[i * n + 3 - 1]"), ("sign", "-x[i]", "x[i]"),
                ("sign", "+=", "-="),
                ("stale gradient", "+=", "="), ("dropped term", "-x[i] * 0.5f", "-x[i]"), ("constant", "0.5f", "1.0f"),
                ("axis", "i * n + 3", "i * (3) + n"), ("dropped term", "i * n + 3", "i * n"), ("constant", "3", "4"),
                ("stale gradient", "run.scale_backward(x.grad(), n);", ";"), ("axis", "-1", "-2"),
                ("axis", "rows, columns", "columns, rows"), ("constant", "0", "1")}
    assert expected <= found, f"not found: {expected - found}"
    assert not any(word in before for _, before, _ in found for word in ("1 + 2", "1 < 2")), found
    for mutant in mutants("f.cpp", source):
        changed, line, before, after = planted(mutant, source)
        assert errors(changed) == 0 and before != after, (mutant, after)
        assert changed.splitlines()[line - 1].decode().strip() == after, (mutant, after)
    return len(found)
