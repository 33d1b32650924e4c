// The record keys of the GPU's queue (cuda/record_key.h) hold every bit of a launch's arguments, for the structs of
// core/kernels.h and of the CUDA kernels.
#ifdef POSLAB_EMULATE
#include "cuda/record_key.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <set>

#include "core/kernels.h"
#include "cuda/attention_general.cuh"
#include "cuda/dropout.cuh"
#include "cuda/product.h"
#include "cuda/row_sums.cuh"
#include "cuda/sums.h"
#include "tests/support/places.h"

namespace poslab::test {
namespace {

// Changes each byte of x in turn, except padding, and checks that all keys differ.
template <class T>
void every_byte_matters(const T& x) {
  T mask{};
  std::memset(static_cast<void*>(&mask), 0xFF, sizeof mask);
  __builtin_clear_padding(&mask);
  std::set<std::string> keys{cuda::record_key(x)};
  size_t changes = 0;
  for (size_t i = 0; i < sizeof x; ++i) {
    if (!reinterpret_cast<const unsigned char*>(&mask)[i]) continue;
    T changed = x;
    // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): it cannot follow a bytewise copy
    reinterpret_cast<unsigned char*>(&changed)[i] ^= 1;
    keys.insert(cuda::record_key(changed)), ++changes;
  }
  CHECK(changes > 0);
  CHECK(keys.size() == 1 + changes);
}

// The compiler's messages for a program.
std::string compiler_says(const std::string& text) {
  const std::string command =
      fmt::format("echo '{}' | '{}' -std=c++20 -fsyntax-only -I'{}' -x c++ - 2>&1", text, compiler, source_folder);
  FILE* out = popen(command.c_str(), "r");
  REQUIRE(out);
  std::string said;
  for (int c; (c = fgetc(out)) != EOF;) said += char(c);
  pclose(out);
  return said;
}

}  // namespace

TEST_CASE("record key: a change in any byte of a field changes the key") {
  every_byte_matters(Accumulator{});
  every_byte_matters(Stream{});
  every_byte_matters(Product{});
  every_byte_matters(Dropout{});
  every_byte_matters(AdamStep{});
  every_byte_matters(AttentionArgs{});
  every_byte_matters(AttentionGrads{});
  every_byte_matters(cuda::DropoutArgs{});
  every_byte_matters(cuda::Tiling{});
  every_byte_matters(cuda::LogitGrads{});
  every_byte_matters(cuda::RowSum{});
  every_byte_matters(cuda::Section{});
  every_byte_matters(cuda::Term{});                   // not a whole Job: g++ 12 treats its padding as values
  every_byte_matters(cuda::Finish{});
  every_byte_matters(cuda::NormOfProduct{});
}

TEST_CASE("record key: for a strided loop it has the dimensions in use and no others") {
  StridedLoop loop{.dims = 2, .size = {3, 4}, .y = {4, 1}, .a = {0, 1}, .b = {1, 0}};
  const std::string key = cuda::record_key(loop);
  std::set<std::string> keys{key};
  for (int64_t* values : {loop.size, loop.y, loop.a, loop.b})
    for (int d = 0; d < StridedLoop::max_dims; ++d) {
      ++values[d];
      CHECK((cuda::record_key(loop) == key) == (d >= loop.dims));
      keys.insert(cuda::record_key(loop));
      --values[d];
    }
  loop.dims = 1, keys.insert(cuda::record_key(loop));
  CHECK(keys.size() == 1 + 4 * 2 + 1);
}

TEST_CASE("record key: for a product it has the terms in use and all other fields") {
  cuda::Job job{.term = {{.k = 3}, {.k = 4}, {.k = 5}}, .terms = 2};
  const std::string key = cuda::record_key(job);
  std::set<std::string> keys{key};
  for (int t = 0; t < cuda::max_terms; ++t) {
    cuda::Job other = job;
    other.term[t].a.line = 7;
    CHECK((cuda::record_key(other) == key) == (t >= job.terms));
    keys.insert(cuda::record_key(other));
  }
  real number = 0;
  const auto change = [&](const auto& what) {
    cuda::Job other = job;
    what(other);
    keys.insert(cuda::record_key(other));
  };
  change([](cuda::Job& j) { j.terms = 1; });
  change([](cuda::Job& j) { j.terms = 3; });
  change([&](cuda::Job& j) { j.c = &number; });
  change([](cuda::Job& j) { j.m = 1; });
  change([](cuda::Job& j) { j.n = 1; });
  change([](cuda::Job& j) { j.finish.relu = true; });
  change([](cuda::Job& j) { j.parts = 1; });
  change([](cuda::Job& j) { j.k_total = 1; });
  change([](cuda::Job& j) { j.c_step = 1; });
  change([&](cuda::Job& j) { j.b_sums = &number; });
  change([](cuda::Job& j) { j.first_block = 1; });
  CHECK(keys.size() == 1 + 2 + 11);
}

TEST_CASE("record key: a list that lacks a field does not compile") {
  const auto with_list = [](const std::string& list) {
    return compiler_says("#include \"core/fields.h\"\nstruct S { int a; float* b; bool c; FIELDS(S, " + list +
                         ") };\nconst S s{};\nconst auto all = fields(s);");
  };
  CHECK(with_list("a, b, c") == "");
  CHECK(with_list("a, b").find("decomposes into 3 elements") != std::string::npos);
  const auto with_key = [](const std::string& list) {
    return compiler_says("#include \"cuda/record_key.h\"\nstruct S { int a, b; " + list +
                         " };\nstd::string key = poslab::cuda::record_key(S());");
  };
  CHECK(with_key("FIELDS(S, a, b)") == "");
  CHECK(with_key("").find("give this struct a list of its FIELDS") != std::string::npos);
}

}  // namespace poslab::test
#endif
