#include "bench/serve.h"

#include <fstream>
#include <sstream>

#include "autograd/tape.h"
#include "core/backend.h"
#include "core/error.h"
#include "core/platform/isa.h"
#include "core/platform/parallel.h"
#include "tests/support/formula.h"

namespace poslab {
namespace {

using json = Served::json;

json evaluations(Served& model, std::istream& sizes) {
  json ms = json::array();
  double accuracy = 0;
  for (std::string size; sizes >> size;) {
    const auto start = std::chrono::steady_clock::now();
    accuracy = model.evaluate(size);
    ms.push_back(Served::ms_since(start));
  }
  return {{"ms", ms}, {"accuracy", accuracy}};
}

json check(Served& model, bool training, const std::string& size, const std::string& path) {
  formula::fill(model.params());
  json tensors = json::array();
  std::ofstream file(path, std::ios::binary);
  const auto write = [&](const std::string& name, const std::vector<real>& values) {
    const std::vector<float> single(values.begin(), values.end());
    file.write(reinterpret_cast<const char*>(single.data()), std::streamsize(single.size() * sizeof(float)));
    tensors.push_back({name, single.size()});
  };
  if (training) {
    model.params().clear_grads();
    const Served::Checked x = model.checked(true, size);
    backward(x.loss);
    write("loss", x.loss.values());
    write("logits", x.logits.values());
    for (const auto& entry : model.params().entries()) write(entry.name, entry.tensor.grad().values());
  } else {
    const NoGrad no_grad;
    write("logits", model.checked(false, size).logits.values());
  }
  if (!file.flush()) failure("bench: cannot write {}", path);
  return {{"tensors", tensors}};
}

json answer(Served& model, const std::string& line) {
  std::istringstream words(line);
  std::string command, what, size, file;
  int count = 0;
  words >> command;
  if (command == "size" && words >> count) return {{"size", model.size(count)}};
  if (command == "lengths" && words >> count) return model.lengths(count);
  if (command == "warm" && words >> what) return what == "eval" ? evaluations(model, words) : model.steps(words);
  if (command == "steps") return model.steps(words);
  if (command == "eval") return evaluations(model, words);
  if (command == "check" && words >> what >> size >> file) return check(model, what == "steps", size, file);
  bad_input("bench: unknown line `{}`; known: size, lengths, warm, steps, eval, check", line);
}

}  // namespace

void serve(Served& model, std::istream& in, std::ostream& out) {
  const Backend& device = backend(model.params().device());
  const auto say = [&](const json& answer) { out << answer.dump() << '\n' << std::flush; };
  json hello = {{"device", device.name()},
                {"peak_gflops", device.peak_flops() / 1e9},
                {"program", sizeof(real) == 8 ? "poslab (double)" : "poslab"},
                {"threads", threads()},
                {"isa", isa()},
                {"blas", "its own products"}};
  hello.update(model.sizes());
  say(hello);
  for (std::string line; std::getline(in, line);) say(answer(model, line));
}

}  // namespace poslab
