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
instead("2 backward", "the first result alone",
        " && std::none_of(step.results.begin(), step.results.end(), reached)", "", "the first result alone")
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

# 4: products
body("4 multiply", "= for +=", """
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        if (!add) c[i * n + j] = 0;
        for (int p = 0; p < k; ++p) c[i * n + j] = (add ? c[i * n + j] : 0) + a(i, p) * b(p, j);
      }""", "= for +=")
body("4 multiply", "c is never cleared", """
    for (int i = 0; i < m; ++i)
      for (int p = 0; p < k; ++p)
        for (int j = 0; j < n; ++j) c[i * n + j] += a(i, p) * b(p, j);""", "to be overwritten unless `add`")
instead("4 multiply", "c is always cleared", "j < n && !add", "j < n", "although `add` is true")
instead("4 multiply", "a transposed", "a(i, p)", "a(p, i)", "a is read transposed")
instead("4 multiply", "b transposed", "b(p, j)", "b(j, p)", "b is read transposed")
instead("4 multiply", "off by one", "p < k", "p < k - 1", "the last one is missing")
instead("4 pack", "row after row, not panel after panel", "int64_t(at) * k + row * width", "int64_t(row) * n + at",
        None)
instead("4 block", "the second block overwrites the first", "p.n, add)", "p.n, false)", "give `add` to multiply")
instead("4 matmul_backward", "b is not transposed", ".b_transposed = true", ".b_transposed = false",
        "b is not transposed")
instead("4 matmul_backward", "a is not transposed", ".a_transposed = true", ".a_transposed = false",
        "a is not transposed")

# 5: attention
instead("5 product", "no scale", "double(x.scale) * s", "s", "is forgotten: x.scale")
instead("5 product", "divided by the scale", "double(x.scale) * s", "s / double(x.scale)", "divided by the scale")
instead("5 piece", "off by one", "away > 0", "away >= 0", "off by one")
instead("5 piece", "the other side", "away > 0", "away < 0", "before the query are masked")
instead("5 piece", "lengths are not asked", "(x.key_lengths && j >= x.key_lengths[b])", "false",
        "key_lengths is not asked")
instead("5 piece", "the length of the first", "x.key_lengths[b]", "x.key_lengths[0]", "it is key_lengths[b]")
instead("5 weights", "no maximum", "const double top = *std::max_element(a.begin(), a.end());", "const double top = 0;",
        "subtract the largest logit first")
instead("5 weights", "masked logits are 0", "size_t(x.keys), -INFINITY", "size_t(x.keys), 0.", "exp(0) is 1")
instead("5 weights", "not divided", "z > 0 ? e / z : 0", "e", "not divided by their sum")
instead("5 weights", "temperature on the product alone", "t * (gain(i, j) * product(*p, i, j) + bias(i, j))",
        "t * gain(i, j) * product(*p, i, j) + bias(i, j)", "it multiplies the bias, too")
instead("5 attention", "no weights", "a[size_t(j)] * ", "", "the weights are missing")
instead("5 attention", "= for +=", "sum += a", "sum = a", "= for +=")

# 6: attention, backward
instead("6 values", "no weights", "real(a[size_t(j)] * dy)", "real(dy)", "the weights are missing")
instead("6 values", "= for +=", "d.v.at[row.key(j, x.value_dim, c)] +=", "d.v.at[row.key(j, x.value_dim, c)] =", None)
instead("6 values", "the sum has no weights", "along += a[size_t(j)] * dy * v", "along += dy * v", "no weights in it")
instead("6 logits", "the diagonal alone", "(da[size_t(j)] - along)", "da[size_t(j)]", "the sum over k is missing")
instead("6 logits", "no weight in front", "a[size_t(j)] * (", "(", "factor a_ij is missing")
instead("6 logits", "no scale", "dx = double(x.scale) * gain * du", "dx = gain * du", "is forgotten")
instead("6 queries and keys", "exchanged", "double(p->k[k])", "double(p->q[q])", None)

# 7: norm, residual, the block
instead("7 moments", "the mean stays", "- mean;", "- 0;", None)
instead("7 moments", "the variance, not its root", "inverse = 1 / std::sqrt(sum_lanes(squares) / real(n) + epsilon)",
        "inverse = 1 / (sum_lanes(squares) / real(n) + epsilon)", "std is its root")
instead("7 moments", "n - 1", "sum_lanes(squares) / real(n)", "sum_lanes(squares) / real(n - 1)", "here it is n")
instead("7 moments", "epsilon outside", "inverse = 1 / std::sqrt(sum_lanes(squares) / real(n) + epsilon)",
        "inverse = 1 / (std::sqrt(sum_lanes(squares) / real(n)) + epsilon)", "it stands below it")
instead("7 norm_row", "no bias", "return scaled + load_some(bias + j, count);", "return scaled;", "the bias is missing")
body("7 norm_row", "the mean stays", """
  const Moments<kind> m(s, n, epsilon);
  for (int j = 0; j < n; ++j) y[j] = gain[j] * s[j] * m.inverse + (kind == NormKind::rms ? 0 : bias[j]);""",
     "the mean is not taken off")
instead("7 norm_row_backward", "mean(g) is missing", "- g_mean ", "", "mean(g) is missing")
instead("7 norm_row_backward", "h mean(g h) is missing", " - h * gh_mean", "", "h mean(g h) is missing")
instead("7 norm_row_backward", "not divided by std", ") * m.inverse;", ");", "division by std is missing")
instead("7 block", "no residual", "residual_norm(own, a,", "residual_norm(own * 0, a,", "missing after attention")
instead("7 block", "the network reads x", "feed_forward(h,", "feed_forward(own,", "it reads h")
instead("7 block", "norms exchanged", "w_.gain1, w_.bias1", "w_.gain2, w_.bias2", None)

# 8: Adam and training
instead("8 adam", "no root", "std::sqrt(v[e] * scale)", "v[e] * scale", "the root of v is missing")
instead("8 adam", "uphill", "p[e] -=", "p[e] +=", "the loss falls along -g")
instead("8 adam", "not clipped", "norm > double(s.clip)", "false", "nothing is clipped")
instead("8 adam", "no momentum", "s.beta1 * m[e] + (1 - s.beta1) * gradient", "gradient", "m = beta1 m")
instead("8 adam", "v collects |g|", "large * large", "std::abs(large)", "it collects g^2")
instead("8 corrections", "none", "real(1 - std::pow(beta1, t)), s.correction2 = real(1 - std::pow(beta2, t))",
        "1, s.correction2 = 1", "without a correction")
instead("8 corrections", "t begins at 0", "pow(beta1, t)), s.correction2 = real(1 - std::pow(beta2, t))",
        "pow(beta1, t - 1)), s.correction2 = real(1 - std::pow(beta2, t - 1))", "t begins at 1")
instead("8 squares", "the root", "*sum_of_all = total", "*sum_of_all = std::sqrt(total)", "the root of the sum")
instead("8 train_step", "old gradients stay", "params.clear_grads();", "", "clear_grads() first")
instead("8 train_step", "no backward", "backward(loss);", "", "backward() called before it")
instead("8 train_step", "not counted", "++adam.step;", "", "++adam.step")

# 9: sine and cosine, learned positions
instead("9 frequencies", "the sign", "-2.0 * m", "2.0 * m", "the wrong sign")
instead("9 frequencies", "no 2", "-2.0 * m", "-1.0 * m", "the 2 is missing")
instead("9 frequencies", "one for each channel", "m < channels / 2; ++m) f.push_back(std::pow(base, -2.0 * m",
        "m < channels; ++m) f.push_back(std::pow(base, -1.0 * m", "they come in pairs")
instead("9 fill_row", "they take turns", "row[m] = real(std::sin(angle)), row[m + f.size()]",
        "row[2 * m] = real(std::sin(angle)), row[2 * m + 1]", "take turns")
instead("9 fill_row", "cosines first", "row[m] = real(std::sin(angle)), row[m + f.size()] = real(std::cos(angle))",
        "row[m] = real(std::cos(angle)), row[m + f.size()] = real(std::sin(angle))", "the cosines come first")
instead("9 sincos", "the embedding is lost", "x + ", "x * 0 + ", "the embedding is lost")
instead("9 learned", "the slot", "int(nearest)", "int(row.size())", "taken for the position")
instead("9 learned", "first is forgotten", " - first;", ";", None)

# 10: RoPE
turn = """
  const int half = head_dim / 2;
  for (int b = 0; b < batch; ++b)
    for (int t = 0; t < time; ++t)
      for (int h = 0; h < heads; ++h)
        for (int m = 0; m < half; ++m) {{
          const int64_t at = ((int64_t(b) * time + t) * heads + h) * head_dim;
          const int64_t one = at + (interleaved ? 2 * m : m), two = at + (interleaved ? 2 * m + 1 : m + half);
          const int64_t row = ((table_batch == 1 ? 0 : int64_t(b)) * time + t) * half + m;
          const real c = cosine[row], s = back ? -sine[row] : sine[row];
          {}
        }}"""
both = ("const real a = x[one] * c - x[two] * s, d = x[one] * s + x[two] * c;\n"
        "          y.at[one] = (y.empty ? 0 : y.at[one]) + a, y.at[two] = (y.empty ? 0 : y.at[two]) + d;")
body("10 rotate", "the sine's sign", turn.format(both.replace("- x[two] * s", "+ x[two] * s")
                                                 .replace("x[one] * s + x", "-x[one] * s + x")), "the sine's sign")
body("10 rotate", "= for +=", turn.format("y.at[one] = x[one] * c - x[two] * s;\n          "
                                          "y.at[two] = x[one] * s + x[two] * c;"), "= for +=")
body("10 rotate", "always halves", turn.format(both).replace("interleaved ? 2 * m : m", "m")
     .replace("interleaved ? 2 * m + 1 : m + half", "m + half"), "with `interleaved` they are")
body("10 rotate", "the first table", turn.format(both).replace("(table_batch == 1 ? 0 : int64_t(b)) * time + t", "t"),
     "all sequences read the first table")
body("10 rotate", "the new first channel", turn.format("y.at[one] = x[one] * c - x[two] * s;\n          "
                                                       "y.at[two] = y.at[one] * s + x[two] * c;"),
     "is overwritten before")
instead("10 rotate_backward", "forward once more", "dy, true", "dy, false", "rotated forward once more")
instead("10 scores", "keys are not rotated", "rotated(own(in.k), of_keys, pairing_)", "own(in.k)",
        "keys are not rotated")
instead("10 angles", "in a float", "real(x - turn * double(std::llrint(x * (1 / turn))))",
        "real(at[size_t(n)]) * real(frequencies[size_t(m)])", None)

# 11: ALiBi and relative keys
instead("11 alibi_slopes", "from h = 0", "for (int h = 1; h <= below; ++h)", "for (int h = 0; h < below; ++h)",
        "the first head is h = 1")
body("11 alibi_slopes", "one formula for all", """
  std::vector<double> m;
  for (int h = 1; h <= heads; ++h) m.push_back(std::exp2(-8.0 * h / heads));
  return m;""", "powers of two alone")
instead("11 alibi", "no minus", "-std::abs(d)", "std::abs(d)", "the minus is missing")
instead("11 alibi", "the right side", "d < 0 ? left : 0", "d > 0 ? left : 0", "0.5 is on the right side")
instead("11 alibi", "no |d|", "-std::abs(d)", "-d", "|d| is missing")
instead("11 pair", "off by one", "x.keys) - 1", "x.keys)", "off by one")
instead("11 pair", "no offset", "j - (x.offset + i)", "j - i", "the offset is missing")
instead("11 pair", "mirrored", "j - (x.offset + i)", "(x.offset + i) - j", "the other way round")
instead("11 relative", "the row of the key", "x.r[(pair(i, j) * x.heads", "x.r[(j * x.heads", "it is that of the pair")
instead("11 relative_rows", "the other way round", "value = row(value)", "value = -row(value)", "here it is p_i - p_j")

# 12: randomized positions
body("12 subset", "with replacement", """
  std::vector<double> chosen;
  for (int i = 0; i < n; ++i) chosen.push_back(low + int(rng.below(uint32_t(pool))));
  if (sorted) std::sort(chosen.begin(), chosen.end());
  return chosen;""", "drawn twice")
instead("12 subset", "from 0", "low + p", "p", "begin at `low`")
instead("12 subset", "always sorted", "if (!sorted)", "if (false)", "`sorted` is not asked")
body("12 subset", "gap after gap", """
  std::vector<double> chosen;
  int at = 0;
  for (int i = 0; i < n; ++i, ++at) {
    at += int(rng.below(uint32_t(pool - at - (n - i) + 1)));
    chosen.push_back(low + at);
  }
  if (!sorted)
    for (int i = n - 1; i > 0; --i) std::swap(chosen[size_t(i)], chosen[rng.below(uint32_t(i + 1))]);
  return chosen;""", "every subset is equally likely")
instead("12 randomized", "unsorted is sorted", '!c.on("unsorted")', 'c.on("unsorted")', "sorted is its contrary")
instead("12 randomized", "the slots' own number", 'c.whole("max_position")', "slots.time",
        "not as many as there are slots")
instead("12 randomized_offsets", "no minus", "offset.push_back(-right[size_t(d)])",
        "offset.push_back(right[size_t(d)])", "the left side has no minus")

# 13: windows
instead("13 rerope", "not rotated at all", "[w](double) { return w; }", "[](double) { return 0; }", "not 0")
instead("13 rerope", "jumps at the window", "p / k + w - w / k", "p / k", "it jumps at the window")
instead("13 rerope", "w is not taken off", "p / k + w - w / k", "p / k + w", "taken off before the division")
instead("13 pieces", "the sides", "all[1].to = 1 - cut, all[2].from = cut", "all[1].from = cut, all[2].to = 1 - cut",
        "the sides are exchanged")
instead("13 pieces", "one slot too narrow", "int(std::clamp<double>(c, 1, far - 1))",
        "int(std::clamp<double>(c - 1, 1, far - 1))", "one slot too narrow")
instead("13 sliding", "one too many before", "1 - window", "-window", "from 1 - w on")
instead("13 sliding", "the query does not see itself", "causal ? 1 : window", "causal ? 0 : window",
        "does not see itself")

# 14: a kernel, and vectors
instead("14 all", "the number in its block", "int64_t(blockIdx.x) * blockDim.x + threadIdx.x", "int64_t(threadIdx.x)",
        "threadIdx.x alone")
instead("14 all", "one item a thread", "int64_t(gridDim.x) * blockDim.x}", "n}", "one item a thread")
instead("14 all", "a step of one block", "int64_t(gridDim.x) * blockDim.x}", "int64_t(blockDim.x)}", "times gridDim.x")
body("14 all", "side by side", """
  const int64_t all = int64_t(gridDim.x) * blockDim.x, each = (n + all - 1) / all;
  const int64_t first = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) * each;
  return {first, first + each < n ? first + each : n, 1};""", "items side by side")
instead("14 multiply", "= for +=", "sum += x", "sum = x", "= for +=")
instead("14 multiply", "no bias", "b ? b[j] : real(0)", "real(0)", "the bias is missing")
instead("14 multiply", "a bias always", "b ? b[j] : real(0)", "b[j]", None)
instead("14 multiply", "w transposed", "int64_t(k) * out + j", "j * in + k", "w is read transposed")
instead("14 team_sum", "too far", "lanes / 2", "lanes", "counted twice")
instead("14 team_sum", "not far enough", "away > 0", "away > 1", "the last is 1")
instead("14 team_sum", "always a warp", "Row<team>::lanes / 2", "warp / 2", "all 32 lanes are added")
instead("14 team_sum", "no first barrier", "= x;\n    __syncthreads();", "= x;", "__syncthreads() between")
instead("14 team_sum", "no second barrier", "of_warp[w];\n    __syncthreads();", "of_warp[w];",
        "a second __syncthreads()")
instead("14 team_sum", "all lanes write", "if (threadIdx.x % warp == 0) ", "", "write the same place")
instead("14 team_sum", "warps alone", "team > warp", "team > threads", "each warp has its own sum")
instead("14 team_sum", "x is not cleared", "x = 0;", "", "its own sum twice")
instead("14 softmax of a team", "no maximum", "top = team_max<team>(top);", "top = 0;", "subtract the row's largest")
instead("14 softmax of a team", "its own maximum", "top = team_max<team>(top);", "", "largest of its own numbers")
instead("14 softmax of a team", "its own sum", "sum = team_sum<team>(sum);", "", "the sum of its own numbers")
instead("14 softmax of a team", "not divided", "scale = 1 / sum", "scale = 1", "not divided by the sum")
instead("14 softmax of a team", "one panel", "again = row.again()", "again = false", "the last panel")
instead("14 softmax of a team", "lanes without a number", "p, -INFINITY", "p, 0", "has to read -INFINITY")
instead("14 softmax with vectors", "the lanes behind the end",
        "load_or(x + j, count, -std::numeric_limits<real>::infinity())", "load_some(x + j, count)",
        "lanes behind the row's end")
instead("14 softmax with vectors", "full vectors alone", "sum += last;", "if (count == lanes) sum += last;",
        "is missing in the sum")
instead("14 softmax with vectors", "not divided", "scale = 1 / z", "scale = 1", "not divided by the sum")
instead("14 softmax with vectors", "stored whole", "(count == lanes ? load(y + j) : last) * scale, count)",
        "(count == lanes ? load(y + j) : last) * scale, lanes)", "store_some(.., count)")
instead("14 tile", "c is never added", "end.template finish<W>(at, sum[i][j], i0 + i, j0 + j * W)", "sum[i][j]",
        "what was in c is lost")
instead("14 tile", "= for +=", "add_product<W>(sum[i][j], ", "add_product<W>(VecOf<W>{}, ", "= for +=")
instead("14 tile", "off by one", "p < k;", "p < k - 1;", "the last one is missing")
instead("14 tile", "b for each row", "ai, bj[j])", "ai, Of::template right<W>(b + j * W, b_row))", "b is loaded anew")
instead("14 tile", "a for each vector", "ai, bj[j])", "Of::template left<W>(ap + i * a.row), bj[j])",
        "a is broadcast anew")
