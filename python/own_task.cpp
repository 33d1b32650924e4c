// Tasks written in Python: a class with inputs and answers is added to the list of tasks.
#include "python/own.h"
#include "tasks/own.h"

namespace poslab::python {
namespace {

constexpr int most_slots = 1 << 20;

// An instance of a user's class. Training runs without the GIL and draws on two threads, so each call takes the GIL.
class OwnTask {
 public:
  OwnTask(std::string name, nb::object task) : name_(std::move(name)), task_(std::move(task)) {
    in_ = whole("symbols_in", task_.get().attr("symbols_in"), 1 << 16);
    out_ = whole("symbols_out", task_.get().attr("symbols_out"), 1 << 16);
  }
  int symbols_in() const { return in_; }
  int symbols_out() const { return out_; }
  int output_length(int length) const {
    const Calling calling;
    return whole(fmt::format("output_length({})", length), task_.get().attr("output_length")(length), most_slots);
  }
  Tokens input(Rng& rng, int length) const {
    const uint32_t seed = rng.bits();
    const Calling calling;
    const std::string said = fmt::format("input({})", length);
    const Tokens x = symbols(said, task_.get().attr("input")(length, generator(seed)), in_);
    if (x.empty() || x.size() > size_t(length))
      bad_input("{}: {} gave {} symbols; it must give 1 to {}", name_, said, x.size(), length);
    return x;
  }
  Tokens shuffled(const Tokens& x, Rng& rng) const {
    const uint32_t seed = rng.bits();
    const Calling calling;
    const Tokens y = symbols("shuffled()", task_.get().attr("shuffled")(array(x), generator(seed)), in_);
    if (y.size() != x.size())
      bad_input("{}: shuffled() gave {} symbols in place of {}; it must give the same in another order", name_,
                y.size(), x.size());
    return y;
  }
  Tokens answer(const Tokens& x) const {
    const Calling calling;
    const Tokens y = symbols("answer()", task_.get().attr("answer")(array(x)), out_);
    if (const int slots = output_length(int(x.size())); y.size() != size_t(slots))
      bad_input("{}: answer() gave {} symbols for an input of {}, and output_length({}) is {}; they must be equal",
                name_, y.size(), x.size(), x.size(), slots);
    return y;
  }
  int scored_slots(const Tokens& y) const {
    const Calling calling;
    return whole("scored_slots()", task_.get().attr("scored_slots")(array(y)), int(y.size()));
  }
  // Symbols as texts; empty if they are digits.
  std::vector<std::string> alphabet() const {
    const nb::object given = task_.get().attr("alphabet");
    if (given.is_none()) return {};
    std::vector<std::string> all;
    if (!nb::try_cast(given, all) || all.size() != size_t(in_))
      bad_input("{}: alphabet is {}; give {} texts, one for each symbol of inputs", name_, text_of(given), in_);
    for (const std::string& word : all)
      if (word.empty() || std::count(all.begin(), all.end(), word) > 1)
        bad_input("{}: alphabet has \"{}\" {}; give each symbol a text of its own", name_, word,
                  word.empty() ? "for a symbol" : "twice");
    return all;
  }

 private:
  static nb::object array(const Tokens& x) { return array_of(Ids({int(x.size())}, x)); }
  static nb::object generator(uint32_t seed) { return numpy().attr("random").attr("default_rng")(seed); }

  // A whole number from 1 to most.
  int whole(const std::string& said, nb::object given, int most) const {
    if (PyIndex_Check(given.ptr()))
      if (const auto n = nb::steal(PyNumber_Index(given.ptr())); n.is_valid()) {
        int overflow = 0;
        const long long value = PyLong_AsLongLongAndOverflow(n.ptr(), &overflow);
        if (!overflow && value >= 1 && value <= most) return int(value);
      }
    PyErr_Clear();
    bad_input("{}: {} is {}; give a whole number from 1 to {}", name_, said, text_of(given), most);
  }

  // Numbers from 0 to count - 1.
  Tokens symbols(const std::string& said, nb::object given, int count) const {
    nb::object all = numpy().attr("asarray")(given);
    const std::string kind = nb::cast<std::string>(all.attr("dtype").attr("kind"));
    if (std::string("iub").find(kind) == std::string::npos || nb::cast<int>(all.attr("ndim")) != 1)
      bad_input("{}: {} gave a {} of shape {} and dtype {}; it must give a list of whole numbers", name_, said,
                type_of(given), text_of(all.attr("shape")), text_of(all.attr("dtype")));
    all = numpy().attr("ascontiguousarray")(all, "dtype"_a = "int64");
    const auto a = nb::cast<nb::ndarray<const int64_t, nb::c_contig, nb::device::cpu>>(all);
    for (size_t i = 0; i < a.size(); ++i)
      if (a.data()[i] < 0 || a.data()[i] >= count)
        bad_input("{}: {} gave symbol {}; its symbols are 0 to {}", name_, said, a.data()[i], count - 1);
    return {a.data(), a.data() + a.size()};
  }

  std::string name_;
  Kept task_;
  int in_ = 0, out_ = 0;
};

// own: the methods of pl.Task that the class overrides
Task with_instance(Task t, nb::object instance, const std::vector<std::string>& own) {
  const auto its = std::make_shared<const OwnTask>(t.name, std::move(instance));
  t.symbols_in = its->symbols_in(), t.symbols_out = its->symbols_out(), t.alphabet = its->alphabet();
  t.output_length = [its](int length) { return its->output_length(length); };
  t.answer = [its](const Tokens& x) { return its->answer(x); };
  for (const std::string& method : own)
    if (method == "input") t.input = [its](Rng& rng, int length) { return its->input(rng, length); };
    else if (method == "shuffled") t.shuffled = [its](const Tokens& x, Rng& rng) { return its->shuffled(x, rng); };
    else t.scored_slots = [its](const Tokens& y) { return its->scored_slots(y); };
  return t;
}

void register_task(const std::string& name, nb::object task_class, const std::string& about, nb::dict options,
                   std::vector<std::string> own) {
  const auto alone = lists_at_rest(name);
  PyObject* kind = nb::object(task_class).release().ptr();  // lives as long as the list
  add_task({.name = name,
            .level = "yours",
            .summary = "written in Python",
            .about = about,
            .source = "yours",
            .options = options_of(options),
            .with = [kind, own](Task t, const Choices& c) {
              const Calling calling;
              return with_instance(std::move(t), nb::handle(kind)(**values_of(c)), own);
            }});
}

}  // namespace

void add_own_task(nb::module_& m) {
  m.def("add_task", register_task, "name"_a, "task"_a, "about"_a, "options"_a, "own"_a);
}

}  // namespace poslab::python
