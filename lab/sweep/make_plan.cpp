// From the TOML file of a sweep to its trials.
#include <map>
#include <unordered_map>

#include "lab/config_toml.h"
#include "lab/sweep/plan.h"
#include "lab/toml.h"

namespace poslab {
namespace {

constexpr size_t most_trials = 1000000;

// The values of each option that is named, by its place in all_options().
using Lists = std::map<size_t, std::vector<std::string>>;

size_t place(const std::string& name) { return size_t(&option(name) - all_options().data()); }

std::vector<std::string> values(const Option& o, const toml::node& node) {
  std::vector<std::string> all;
  if (const toml::array* list = node.as_array())
    for (const toml::node& one : *list) all.push_back(option_text(o, one));
  else
    all.push_back(option_text(o, node));
  if (all.empty()) bad_input("{} = [] leaves no trial; give it a value or leave it out", o.name);
  return all;
}

std::vector<std::string> seeds(const toml::node& node) {
  const int64_t n = node.value_exact<int64_t>().value_or(0);
  if (n < 1 || n > int64_t(most_trials)) bad_input("seeds is how many, 1 .. {}; seed takes a list", most_trials);
  std::vector<std::string> all;
  for (int64_t seed = 0; seed < n; ++seed) all.push_back(fmt::format("{}", seed));
  return all;
}

// `lists` with those of the table in their place.
Lists overlaid(Lists lists, const toml::table& table, const std::string& source) {
  if (table.contains("seeds") && table.contains("seed"))
    bad_input("{}: seeds and seed stand in one table; give one of the two", source);
  for (auto& [key, node] : table)
    at_line(source, node, [&, &key = key, &node = node] {
      const std::string name(key.str());
      if (name == "seeds") {
        lists[place("seed")] = seeds(node);
        return;
      }
      const Option& o = option(name);
      if (!o.kept) bad_input("{} belongs to `poslab sweep run`, not to a trial", name);
      lists[place(name)] = values(o, node);
    });
  return lists;
}

std::string refusal(Config c) {
  c.device = "cpu";  // whether there is a GPU is asked where the trial runs
  try {
    check(c);
  } catch (const BadInput& e) { return e.what(); }
  return "";
}

class Collector {
 public:
  explicit Collector(std::string source) : source_(std::move(source)) {}
  Plan plan;

  void add_product(const Lists& lists) {
    for (const char* must : {"task", "encoding"})
      if (!lists.count(place(must))) bad_input("{}: which {}? Every product needs one", source_, must);
    double trials = 1;
    for (auto& [option, list] : lists) trials *= double(list.size());
    if (trials > double(most_trials) - double(plan.size()))
      bad_input("{}: more than {} trials; divide it into several plans", source_, most_trials);
    std::vector<size_t> at(lists.size(), 0);  // an odometer, its last wheel the fastest
    for (bool more = true; more;) {
      Settings settings;
      size_t wheel = 0;
      for (auto& [option, list] : lists) settings.emplace_back(all_options()[option].name, list[at[wheel++]]);
      add(configure(settings));
      more = false;
      for (auto list = lists.rbegin(); list != lists.rend() && !more; ++list) {
        size_t& turned = at[--wheel];
        more = ++turned < list->second.size();
        if (!more) turned = 0;
      }
    }
  }

 private:
  void add(const Config& c) {
    Trial t{trial_id(c), c, refusal(c)};
    const auto [old, fresh] = seen_.emplace(t.id, to_toml(c));
    if (!fresh && old->second != to_toml(c)) failure("two configurations have the id {}; change a seed", t.id);
    if (fresh) plan.push_back(std::move(t));
  }

  std::string source_;
  std::unordered_map<std::string, std::string> seen_;
};

}  // namespace

Plan make_plan(const std::string& text, const std::string& source) {
  toml::table table = parse_toml(text, source);
  toml::array also;
  if (toml::node* node = table.get("also")) {
    at_line(source, *node, [&] {
      if (!node->is_array_of_tables()) bad_input("also is a table of its own, written [[also]]");
    });
    also = std::move(*node->as_array());  // a copy would not know its lines
    table.erase("also");
  }
  const Lists lists = overlaid({}, table, source);
  Collector all(source);
  all.add_product(lists);
  for (const toml::node& more : also) all.add_product(overlaid(lists, *more.as_table(), source));
  return std::move(all.plan);
}

}  // namespace poslab
