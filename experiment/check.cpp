// Which choices fit together. Each rule names both values and what to do.
#include "core/error.h"
#include "experiment/build.h"

namespace poslab {
namespace {

void check_sizes(const Config& c) {
  if (c.d_model % c.heads != 0) {
    int fits = c.heads;
    while (c.d_model % fits != 0) --fits;
    bad_input("heads = {} does not divide d_model = {}; try heads = {}", c.heads, c.d_model, fits);
  }
  if (c.encoding == "rope" && c.d_model / c.heads % 2 != 0)
    bad_input(
        "rope turns channels in pairs, and a head of d_model / heads = {} / {} = {} channels has an odd one; "
        "make the head size even",
        c.d_model, c.heads, c.d_model / c.heads);
  if ((c.encoding == "sincos" || c.encoding == "relative") && c.d_model % 2 != 0)
    bad_input("{} has half sines, half cosines, and d_model = {} is odd; make it even", c.encoding, c.d_model);
}

void check_room(const Config& c, const Sampler& sampler, const char* when) {
  const int most = longest(c);
  if (most > room(c, sampler))
    bad_input(
        "{} positions are needed {} (the longest string of {} with its output slots; train_length = {}, eval_lengths = "
        "{}:{}), but max_position = {}; raise max_position to {} or shorten the strings",
        most, when, c.task, c.train_length, c.eval_lengths.from, c.eval_lengths.to, c.max_position, most);
}

void check_sampler(const Config& c, const Sampler& sampler, const char* option_name) {
  const bool offsets = sampler.name == "randomized_offsets";
  if (offsets && !encoding(c.encoding).relative)
    bad_input(
        "{} needs a position for each token, and {} = randomized_offsets gives only distances; use {} = randomized",
        c.encoding, option_name, option_name);
}

void check_modes(const Config& c) {
  const bool relative = c.encoding == "relative", alibi = c.encoding == "alibi";
  if (c.relative_mode != "paper" && !relative && !alibi)
    bad_input("relative_mode = {} does not fit encoding = {}; it belongs to relative and alibi", c.relative_mode,
              c.encoding);
  if (c.relative_mode == "released" && !relative)
    bad_input(
        "relative_mode = released does not fit encoding = {}: it is a quirk of the released code for relative; "
        "use offset_table",
        c.encoding);
  const bool table = c.relative_mode == "offset_table" || c.relative_mode == "released";
  if (table && c.positions != "randomized" && c.positions != "randomized_offsets")
    bad_input(
        "relative_mode = {} says how random positions are read, but positions = {} has none; use positions = "
        "randomized",
        c.relative_mode, c.positions);
  if (c.alibi_symmetric && !alibi)
    bad_input("alibi_symmetric does not fit encoding = {}; it belongs to alibi", c.encoding);
  if (c.rope_pairing != "interleaved" && c.encoding != "rope")
    bad_input("rope_pairing = {} does not fit encoding = {}; it belongs to rope", c.rope_pairing, c.encoding);
  if (c.unsorted && !train_sampler(c).random)
    bad_input("unsorted shuffles sampled positions, and positions = {} samples none; use positions = randomized",
              c.positions);
}

}  // namespace

void check(const Config& c) {
  if (c.task.empty()) bad_input("which task? Say --task NAME; `poslab list tasks` shows them");
  if (c.encoding.empty()) bad_input("which encoding? Say --encoding NAME; `poslab list encodings` shows them");
  kernels(device(c));   // throws if this program or this machine does not have it
  check_sizes(c);
  check_modes(c);
  check_sampler(c, train_sampler(c), "positions");
  check_sampler(c, test_sampler(c), "test_positions");
  check_room(c, train_sampler(c), "in training");
  check_room(c, test_sampler(c), "at test");
}

}  // namespace poslab
