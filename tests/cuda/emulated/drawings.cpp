// The drawings of a product's shared memory in docs/gpu.md equal the layout of cuda/product_tile.cuh, to the byte.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <set>
#include <sstream>

#include "cuda/product_tile.cuh"
#include "tests/support/places.h"

namespace poslab::test {
namespace {

using cuda::depth, cuda::place, cuda::tile_columns, cuda::warp;

constexpr unsigned columns = 8;      // columns of quads: 128 bytes, which cover all 32 banks

// The number with commas between thousands, as on the pages.
std::string bytes(unsigned n) { return n < 1000 ? fmt::format("{}", n) : fmt::format("{},{:03}", n / 1000, n % 1000); }

}  // namespace

TEST_CASE("cuda: the drawing of a product's shared memory shows the layout in the code") {
  std::ostringstream text;
  text << std::ifstream(fmt::format("{}/docs/gpu.md", source_folder)).rdbuf();
  std::string page = text.str();
  std::erase_if(page, [](char c) { return c == '[' || c == ']'; });
  std::string squeezed;
  for (const char c : page)
    if (c != ' ' || squeezed.empty() || squeezed.back() != ' ') squeezed += c;
  const auto drawn = [&](const std::string& line) {
    INFO("docs/gpu.md lacks: " << line);
    CHECK(squeezed.find(line) != std::string::npos);
  };
  // The quad in each column, for p = 0 to 8.
  for (unsigned p = 0; p <= columns; ++p) {
    std::string line = p == 0 ? "p = 0" : fmt::format(" {}", p);
    for (unsigned column = 0; column < columns; ++column)
      for (unsigned s = 0; s < columns; ++s)
        if (place(p, s, columns) == p * columns + column) line += fmt::format(" {}", s);
    drawn(line);
  }
  if (sizeof(real) == 4) {
    constexpr unsigned quad = sizeof(cuda::Four), in_place = tile_columns / 4, b = depth * in_place * quad;
    const std::string of_b = fmt::format("| b: {} p x {} Fours, {} bytes", depth, in_place, bytes(b));
    const unsigned tall = depth * cuda::Patch<64>::a_fours * quad, low = depth * cuda::Patch<32>::a_fours * quad;
    drawn(fmt::format("tiles of 64 rows | a: {} p x {} Fours, {} bytes {} |", depth, cuda::Patch<64>::a_fours,
                      bytes(tall), of_b));
    drawn(fmt::format("tiles of 32 rows | a: {} x {}, {} {} | free, {} bytes |", depth, cuda::Patch<32>::a_fours,
                      bytes(low), of_b, bytes(tall - low)));
  }
  drawn(fmt::format("tiles of 64 rows {} teams of {} threads, {} p each", cuda::Patch<64>::teams,
                    cuda::Patch<64>::team_threads, depth / cuda::Patch<64>::teams));
  drawn(fmt::format("tiles of 32 rows {} teams of {} threads, {} p each", cuda::Patch<32>::teams,
                    cuda::Patch<32>::team_threads, depth / cuda::Patch<32>::teams));
}

TEST_CASE("cuda: threads that are served together store and load quads of a product in different columns") {
  const auto distinct = [](auto at) {         // whether eight threads use different columns
    std::set<unsigned> met;
    for (unsigned t = 0; t < columns; ++t) met.insert(at(t) % columns);
    return met.size() == columns;
  };
  for (const unsigned fours : {8u, 16u})
    for (unsigned first = 0; first < fours * (depth / 4); first += columns)
      for (unsigned e = 0; e < 4; ++e) {      // as Fetch::put does
        CHECK(distinct([&](unsigned t) { return place((first + t) % 8 * 4 + e, (first + t) / 8, fours); }));
        CHECK(distinct([&](unsigned t) { return place((first + t) / fours * 4 + e, (first + t) % fours, fours); }));
      }
  // 16 lanes load eight different quads of b, and two quads of a for each half of their rows.
  const auto of_half_warps = [](auto patch) {
    using P = decltype(patch);
    for (unsigned half = 0; half < cuda::threads; half += warp / 2)
      for (unsigned p = 0; p < depth; ++p) {
        std::set<unsigned> b, low, high, b_columns, low_columns;
        for (unsigned t = half; t < half + warp / 2; ++t) {
          const P own(t);
          b.insert(place(p, own.four, tile_columns / 4)), low.insert(place(p, 2 * own.eight, P::a_fours));
          high.insert(place(p, 2 * own.eight + 1, P::a_fours));
        }
        for (const unsigned at : b) b_columns.insert(at % columns);
        for (const unsigned at : low) low_columns.insert(at % columns);
        CHECK(b.size() == columns);
        CHECK(b_columns.size() == b.size());
        CHECK(low.size() == 2);
        CHECK(high.size() == 2);
        CHECK(low_columns.size() == low.size());
      }
  };
  of_half_warps(cuda::Patch<64>(0)), of_half_warps(cuda::Patch<32>(0));
}

}  // namespace poslab::test
