// Tools that look into a trained model, on the GPU against the CPU: traces, inspect, align, calibrate, ask and view. If
// the machine has no GPU, it is emulated, and the host must not read its memory.
#include <doctest/doctest.h>

#include <charconv>
#include <cmath>
#include <filesystem>

#include "lab/hub/t5_hf.h"
#include "lab/pages/ask/ask.h"
#include "lab/pages/inspect/inspect.h"
#include "lab/pages/view/view.h"
#include "lab/runs/align.h"
#include "lab/runs/calibrate.h"
#include "lab/runs/whole_run.h"
#include "nn/generate.h"
#include "nn/t5_generate.h"
#include "tests/cuda/helpers.h"
#include "tests/experiment/small_kinds.h"
#include "tests/lab/hub/helpers.h"
#include "tests/support/op_run.h"

namespace poslab::test {
namespace {

// "" if two texts are equal up to rounding in their numbers; otherwise both texts from the first difference on.
std::string parted(const std::string& a, const std::string& b) {
  const char *x = a.data(), *y = b.data();
  const char *const x_end = x + a.size(), *const y_end = y + b.size();
  while (x < x_end && y < y_end) {
    double p = 0, q = 0;
    const auto from_x = std::from_chars(x, x_end, p);
    const auto from_y = std::from_chars(y, y_end, q);
    if (from_x.ec == std::errc() && from_y.ec == std::errc() && std::isfinite(p)) {
      if (!(std::abs(p - q) <= 2e-3 * std::max(1., std::abs(p)))) break;
      x = from_x.ptr, y = from_y.ptr;
    } else if (*x++ != *y++) {
      --x, --y;
      break;
    }
  }
  return x == x_end && y == y_end ? "" : std::string(x, std::min(x_end, x + 60)) + " | " +
                                             std::string(y, std::min(y_end, y + 60));
}

// A run of this kind, after five training steps.
std::string trained(const SmallKind& k, const TemporaryFolder& folder, const char* device = "cpu") {
  const std::string run = folder / (k.name + device);
  train_run(k.kind, overlaid(k.kind.table(), k.settings, {{"out", run}, {"device", device}}), {}, false);
  return run;
}

// Two input lengths for a small model of each kind.
std::vector<int> lengths_of(const SmallKind& k) {
  return k.kind == t5_kind() ? std::vector{16, 24} : k.kind == language_kind() ? std::vector{8, 16} : std::vector{4, 6};
}

void inspected_alike(const TemporaryFolder& folder, const std::string& name, const std::string& model,
                     const std::vector<int>& lengths, const std::string& text = "") {
  for (const char* device : {"cpu", "cuda"})
    inspect::write({model}, lengths, 2, folder / (name + device), device, text);
  for (const char* file : {"dispersion.csv", "logits.csv", "biases.csv", "pca.csv", "coverage.csv"}) {
    INFO(file);
    if (!std::filesystem::exists(folder / (name + "cpu/") + file)) continue;   // a T5 and some schemes have fewer files
    CHECK(parted(read_file(folder / (name + "cpu/") + file), read_file(folder / (name + "cuda/") + file)) == "");
  }
}

void aligned_alike(const TemporaryFolder& folder, AlignRequest r) {
  std::string made[2];
  for (const char* device : {"cpu", "cuda"}) {
    r.device = device;
    write_alignment(r, folder / "t.json");
    made[device == std::string("cuda")] = read_file(folder / "t.json");
  }
  CHECK(parted(made[0], made[1]) == "");
}

}  // namespace

TEST_CASE("cuda: a model of any kind has the CPU's weights, texts and activations, also with replaced activations") {
  REQUIRE(cuda_is_there);
  const OneThread one;
  const TemporaryFolder folder;
  std::vector<std::string> models = {golden_folder + "qwen2"};
  for (const SmallKind& k : small_kinds()) models.push_back(trained(k, folder));
  int refusals = 0;
  for (const std::string& model : models) {
    INFO(model);
    const auto traced = [&](const std::string& device, bool doubled) {
      const Opened opened = open_model(model, device);
      const Reader reader = opened.learner->reader();
      const Ids tokens({2, 6}, {1, 2, 0, 2, 1, 0, 0, 1, 2, 0, 1, 2});
      Trace trace({"*"});
      std::map<std::string, int> calls;
      const auto on_host = [&](const std::string& name, const Tensor& x) {       // like a function in Python
        ++calls[name];
        return (x.to(Device::cpu) * 2).to(x.device());
      };
      if (doubled) trace.replace("*block0*out", on_host);
      const NoGrad still;
      const Tensor logits =
          reader.logits({tokens, 6, reader.start ? Ids({2, 2}, {*reader.start, 1, *reader.start, 2}) : Ids()}, &trace);
      CHECK(logits.device() == (device == "cpu" ? Device::cpu : Device::cuda));
      CHECK(calls.empty() == !doubled);
      for (const auto& [name, count] : calls) CHECK_MESSAGE(count == 1, name);
      std::map<std::string, std::vector<real>> all{{"result", logits.values()}};
      for (const auto& [name, x] : trace.captured) all[name] = x.values();
      for (const Params::Entry& e : opened.learner->params().entries()) all["weights " + e.name] = e.tensor.values();
      return all;
    };
    const auto here = traced("cpu", false), there = traced("cuda", false), replaced = traced("cuda", true);
    CHECK(here.size() > 8);
    REQUIRE(here.size() == there.size());
    for (const auto& [name, values] : here) {
      INFO(name);
      CHECK(difference(there.at(name), values, 1) < (name.starts_with("weights") ? 1e-30 : 1e-4));
    }
    CHECK(difference(replaced.at("result"), traced("cpu", true).at("result"), 1) < 1e-4);
    CHECK(difference(replaced.at("result"), there.at("result"), 1) > 1e-3);
    const auto texts = [&](const char* device) {           // the texts, or why there are none
      const Opened opened = open_model(model, device);
      const auto text = [&](const auto& work) {
        std::string made;
        const std::string why_not = refusal([&] { made = work(); });
        refusals += !why_not.empty();
        return made + why_not;
      };
      return text([&] { return opened.learner->write("the", {.count = 9, .choice = {.temperature = 0.8}}); }) + "\n" +
             text([&] { return opened.learner->answer("passkey a4 . . ask passkey", {.count = 4, .beams = 2}); });
    };
    CHECK(texts("cuda") == texts("cpu"));
  }
  CHECK(refusals == 2 * (3 + 5));                          // only three models generate, and only the T5 answers
}

TEST_CASE("cuda: inspect, align, calibrate and ask give the CPU's results for a run of any kind") {
  REQUIRE(cuda_is_there);
  const OneThread one;
  for (const SmallKind& k : small_kinds()) {
    INFO(k.name);
    const TemporaryFolder folder;
    const std::string run = trained(k, folder);
    const std::vector<int> lengths = lengths_of(k);
    inspected_alike(folder, "inside-", run, lengths);
    aligned_alike(folder, {.run = run, .how = {.shortest = lengths[0], .longer = {lengths[1]}}, .samples = 2});
    const auto both = [&](const auto& said) { CHECK(parted(said("cpu"), said("cuda")) == ""); };
    if (k.kind == strings_kind())
      both([&](const std::string& device) {
        write_calibration(run, {.samples = 3, .deviations = 0.1}, folder / "c.txt", device);
        return read_file(folder / "c.txt");
      });
    if (k.kind.table().standard.has("task"))
      both([&](const std::string& device) {
        asking::Session session(run, open_run(run, device).learner->respondent("", ""),
                                {.attention = "max", .json = true, .page = true});
        const std::string said = session.reply("0110");
        session.write_page(folder / "a.html");
        return said;
      });
  }
}

TEST_CASE("cuda: inspect and align also read a checkpoint on the GPU") {
  REQUIRE(cuda_is_there);
  const OneThread one;
  const TemporaryFolder folder;
  inspected_alike(folder, "hf-", golden_folder + "qwen2", {8, 16}, std::string(source_folder) + "/docs/language.md");
  aligned_alike(folder, {.hf = golden_folder + "t5/v1_0", .how = {.shortest = 2, .longer = {4}}, .samples = 2,
                         .task = "line"});
}

TEST_CASE("cuda: view draws a run that was trained on the GPU, on the CPU") {
  REQUIRE(cuda_is_there);
  const OneThread one;
  const TemporaryFolder folder;
  for (const SmallKind& k : small_kinds()) {
    INFO(k.name);
    const std::string run = trained(k, folder, "cuda");
    CHECK(view::write({run}, {.length = lengths_of(k)[0]}, folder / (k.name + "-maps")).maps > 0);
  }
}

}  // namespace poslab::test
