"""Typical wrong answers to the steps of the course: what a student may write, and the words of the hint that names it.

An answer is a body, or pairs of what is replaced in the project's body and by what. Without a hint (None) the answer is
caught, and the student is told formula, place, expected and got alone.
"""

answers = []                           # (key of the body, what is wrong, its lines, words of the hint or None)


def body(key, what, text, hint):
    answers.append((key, what, lambda lines: text.strip("\n").split("\n"), hint))


def instead(key, what, old, new, hint):
    def change(lines):
        text = "\n".join(lines)
        assert old in text, f"'{key}' has no '{old}' any more; write tests/course anew for it"
        return text.replace(old, new).split("\n")
    answers.append((key, what, change, hint))


# 1: shapes
body("1 size_of", "a sum", "  int64_t n = 0;\n  for (int d : shape) n += d;\n  return n;", "have to be multiplied")
body("1 size_of", "an int", "  int n = 1;\n  for (int d : shape) n *= d;\n  return n;", "make it an int64_t")
body("1 dim", "the last axis is dims() - 1 from the end", """
  if (i < -dims() || i >= dims()) bad_input("axis {}", i);
  return shape_[size_t(i < 0 ? std::max(0, i + dims() - 1) : i)];""", None)
body("1 dim", "nothing is refused", "  return shape_[size_t((i + 2 * dims()) % dims())];", "refuse i >= dims()")
instead("1 reshape", "-1 is all values", "size() / std::max<int64_t>(known, 1)", "size()", None)
body("1 dense", "columns first", """
  Strides strides(x.size());
  int64_t step = 1;
  for (size_t d = 0; d < x.size(); step *= x[d], ++d) strides[d] = step;
  return strides;""", "the last axis has step 1")
body("1 dense", "its own size too", """
  Strides strides(x.size());
  int64_t step = 1;
  for (size_t d = x.size(); d-- > 0;) strides[d] = step *= x[d];
  return strides;""", "has its own size in it")
instead("1 broadcast_strides", "size 1 does not repeat", "x[d] == 1 ? 0 : own[d]", "own[d]", "its step is 0")
instead("1 broadcast_strides", "from the left", "strides[over.size() - x.size() + d]", "strides[d]",
        "belong to the last axes")
instead("1 broadcast", "from the left", "y[longer.size() - shorter.size() + d]", "y[d]", "from the right")
instead("1 broadcast", "1 does not give way", "if (size == 1) size = shorter[d];", "", "must give way")

# 2: the tape
instead("2 needed", "all in place of any", "any_of", "all_of", "any one of them is enough")
instead("2 needed", "NoGrad is not asked", "no_grad == 0 && ", "", "no_grad is not asked")
instead("2 record", "everything is recorded", "if (!needed(inputs)) return y;", "", "return y at once")
instead("2 record", "the result wants no gradient", "y.require_grad()", "y", "does not require a gradient")
instead("2 backward", "from the front", "Step step = std::move(tape.back());\n    tape.pop_back();",
        "Step step = std::move(tape.front());\n    tape.erase(tape.begin());", None)
instead("2 backward", "no 1 to begin with", ".at, 1, 1);", ".at, 0, 1);", "all are 0")
instead("2 backward", "what nothing reached is called",
        "if (!reached(step.y) && std::none_of(step.results.begin(), step.results.end(), reached)) continue;", "",
        "skip it unless its y has_grad()")
instead("2 add_grad", "= for +=", "sum(dx,", "sum({dx.at, true},", "= for +=")
body("2 add_grad", "the first place alone", """
  if (Accumulator dx = x.grad_accumulator())
    for (int64_t n = 0; n < x.size(); ++n) dx.at[n] = (dx.empty ? 0 : dx.at[n]) + d[n];""", None)
body("2 mul", "its own factor", """
    add_grad(a, run.mul, {dy, over}, a, over);
    add_grad(b, run.mul, {dy, over}, b, over);""", "the other factor")
body("2 mul", "without dy", "    add_grad(a, run.mul, Tensor::full(over, 1), b, over);\n"
     "    add_grad(b, run.mul, Tensor::full(over, 1), a, over);", "dy is missing")
instead("2 div", "no minus", "number(-1, b)", "number(1, b)", "the minus is missing")
instead("2 div", "a is missing", "apply(run.mul, b.device(), y, number(-1, b), over)",
        "apply(run.div, b.device(), number(-1, b), b, over)", "the factor a is missing")

# 3: softmax and cross-entropy
loop = "  for (int64_t i = 0; i < rows; ++i) {{\n    const real* xi = x + i * n;\n{}\n  }}"
divide = """    real sum = 0;
    for (int j = 0; j < n; ++j) sum += y[i * n + j] = std::exp(xi[j] - top);
    for (int j = 0; j < n; ++j) y[i * n + j] /= sum;"""
body("3 softmax", "no maximum", loop.format("    const real top = 0;\n" + divide), "subtract the row's largest")
body("3 softmax", "the maximum of all rows", "  const real top = *std::max_element(x, x + rows * n);\n" +
     loop.format(divide), "Each row has its own")
body("3 softmax", "not divided", loop.format("    for (int j = 0; j < n; ++j) "
     "y[i * n + j] = std::exp(xi[j] - *std::max_element(xi, xi + n));"), "not divided by the sum")
body("3 softmax", "one sum for all", "  real sum = 0;\n  for (int64_t e = 0; e < rows * n; ++e) sum += y[e] = "
     "std::exp(x[e]);\n  for (int64_t e = 0; e < rows * n; ++e) y[e] /= sum;", "whole tensor")
back = """  for (int64_t i = 0; i < rows; ++i) {{
    real sum = 0;
    for (int j = 0; j < n; ++j) sum += dy[i * n + j] * y[i * n + j];
    for (int j = 0; j < n; ++j) {{
      const int64_t e = i * n + j;
      dx.at[e] = {};
    }}
  }}"""
add = "(dx.empty ? 0 : dx.at[e]) + "
body("3 softmax_backward", "the diagonal alone", back.format(add + "y[e] * (1 - y[e]) * dy[e]"), "slope of a sigmoid")
body("3 softmax_backward", "= for +=", back.format("y[e] * (dy[e] - sum)"), "= for +=")
body("3 softmax_backward", "no y in front", back.format(add + "(dy[e] - sum)"), "factor y_ij is missing")
instead("3 cross_entropy", "a sum for a mean", "total / double(rows)", "total", "it is their mean")
instead("3 cross_entropy", "the maximum is not taken from the target", "(row[target[i]] - top)", "row[target[i]]", None)
instead("3 cross_entropy_backward", "not divided by the rows", "*dloss / real(rows)", "*dloss", "divide by the number")
instead("3 cross_entropy_backward", "no 1 at the target", "-= each", "-= 0", "1 at the target is missing")
