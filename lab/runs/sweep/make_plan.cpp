// Makes trials from lists of values.
#include <algorithm>
#include <unordered_map>

#include "core/error.h"
#include "lab/files/progress.h"
#include "lab/runs/origin.h"
#include "lab/runs/sweep/plan.h"

namespace poslab::sweep {
namespace {

constexpr int64_t max_trials = 1000000;

std::string refusal(Choices c) {
  c.set("device", "cpu");  // the device is checked where the trial runs
  try {
    kind_of(c).check(RunSpec(c));
  } catch (const BadInput& e) { return e.what(); }
  return "";
}

class Collector {
 public:
  Collector(std::string source, const Kind& kind) : source_(std::move(source)), kind_(&kind) {}
  Plan plan;

  void add_product(const ValueLists& by_name) {
    for (auto& [name, list] : by_name)
      if (list.empty()) bad_input("{}: {} = [] leaves no trial; give it a value or leave it out", source_, name);
    for (const char* must : {"task", "encoding"})
      if (kind_->table().standard.has(must) && kind_->table().standard[must].empty() && !by_name.count(must) &&
          !by_name.count("from"))
        bad_input("{}: which {}? Every table of a sweep needs one", source_, must);
    const std::vector<Option>& options = kept_options(*kind_);
    std::map<size_t, std::vector<std::string>> lists;  // by the option's index in `options`
    for (auto& [name, list] : by_name) lists[size_t(&kept_option(*kind_, name) - options.data())] = list;
    double trials = 1;
    for (auto& [option, list] : lists) trials *= double(list.size());
    if (trials > double(max_trials) - double(plan.size()))
      bad_input("{}: more than {} trials; divide it into several plans", source_, max_trials);
    const size_t before = plan.size();
    int64_t repeats = 0;
    std::vector<size_t> at(lists.size(), 0);  // an odometer; the last wheel is the fastest
    for (bool more = true; more;) {
      Settings settings;
      size_t wheel = 0;
      for (auto& [option, list] : lists) settings.emplace_back(options[option].name, list[at[wheel++]]);
      repeats += add(prefix_errors(source_, [&] { return kind_->configure(with_origin(settings)); }), before);
      more = false;
      for (auto list = lists.rbegin(); list != lists.rend() && !more; ++list) {
        size_t& value = at[--wheel];
        more = ++value < list->second.size();
        if (!more) value = 0;
      }
    }
    if (repeats && Progress::shown)
      tell(log_of_thread(), "{}: {} of {:.0f} trials {}; each is trained once\n", source_, repeats, trials,
           repeats == 1 ? "repeats another one in another spelling"
                        : "repeat others in another spelling");
  }

 private:
  // Adds the options of the origin of a trial.
  Settings with_origin(const Settings& settings) {
    for (const auto& [name, path] : settings) {
      if (name != "from" || path.empty()) continue;
      auto origin = origins_.find(path);
      if (origin == origins_.end()) origin = origins_.emplace(path, open_origin(*kind_, path)).first;
      return settings_from(origin->second, *kind_, settings);
    }
    return settings;
  }

  // Whether the product that begins in the plan at `from` has the trial already.
  bool add(const Choices& c, size_t from) {
    Trial t{trial_id(c), c, refusal(c)};
    const std::string all = config_json(c).dump();
    const auto [old, fresh] = seen_.emplace(t.id, all);
    if (!fresh && old->second != all) failure("two configurations have the id {}; change a seed", t.id);
    const auto same = [&](const Trial& other) { return other.id == t.id; };
    if (!fresh) return std::any_of(plan.begin() + ptrdiff_t(from), plan.end(), same);
    plan.push_back(std::move(t));
    return false;
  }

  std::string source_;
  const Kind* kind_;
  std::unordered_map<std::string, std::string> seen_;
  std::map<std::string, Origin> origins_;
};

}  // namespace

ValueLists overlaid(ValueLists lists, const ValueLists& above) {
  for (const auto& [name, list] : above) lists[name] = list;
  return lists;
}

std::vector<std::string> seeds(int64_t n) {
  if (n < 1 || n > max_trials) bad_input("seeds is a number, 1 .. {}; seed takes a list", max_trials);
  std::vector<std::string> all;
  for (int64_t seed = 0; seed < n; ++seed) all.push_back(fmt::format("{}", seed));
  return all;
}

Plan make_plan(const ValueLists& lists, const std::vector<ValueLists>& also, const std::string& source,
               const Kind& kind) {
  Collector all(source, kind);
  all.add_product(lists);
  for (const ValueLists& more : also) all.add_product(overlaid(lists, more));
  return std::move(all.plan);
}

}  // namespace poslab::sweep
