// Encodings and samplers written in Python: a class whose objects are layers, or draw positions, is added to the list
// of schemes or samplers, for training and checks.
#include "python/own.h"

#include <algorithm>
#include <cmath>

#include "autograd/composed.h"
#include "encodings/checks/checks.h"
#include "encodings/own.h"

namespace poslab::python {
namespace {

// A layer: a Python object with scores(q, k, positions). Training runs without the GIL, so each call takes it.
class OwnLayer : public Encoding {
 public:
  OwnLayer(std::string name, nb::object layer) : name_(std::move(name)), layer_(std::move(layer)) {}
  Scores scores(const Heads& in, const Positions& p) const override {
    const Calling calling;
    const nb::object positions = array_of({p.sequences(), p.time()}, p.tokens(name_));
    const nb::object given = layer_.get().attr("scores")(in.q, in.k, positions);
    if (!nb::isinstance<Scores>(given)) bad_input("{}: scores() gave a {}; it must give Scores", name_, type_of(given));
    Scores s = nb::cast<Scores>(given);
    for (const Piece& piece : s.pieces) check_shape(in.q, piece.q, "q", 3), check_shape(in.k, piece.k, "k", 2);
    if (s.bias && s.bias.device() == Device::cpu)  // with a NaN, training would seem to diverge
      for (int64_t i = 0; i < s.bias.size(); ++i)
        if (std::isnan(s.bias.data()[i]))
          bad_input("{}: the bias of scores(), of shape {}, has a NaN; 0 adds nothing, and -inf hides a pair", name_,
                    to_string(s.bias.shape()));
    for (Tensor* x : {&s.q_rel, &s.r, &s.gain, &s.bias, &s.temperature}) *x = x->to(in.q.device());   // NumPy's arrays
    if (in.temperature) s.temperature = s.temperature ? s.temperature * in.temperature : in.temperature;
    return s;
  }
  // Fused attention checks the scores first; the composed forms do not.
  Tensor logits(const Heads& in, const Positions& p, const Span& span) const override {
    const Scores s = scores(in, p);
    attention_weights(s, span);
    return composed::logits(s, span);
  }

 private:
  // Checks that sequences, slots and heads are as in q; attention checks the rest.
  void check_shape(const Tensor& given, const Tensor& x, const char* what, int sizes) const {
    if (x && x.dims() == 4 && !std::equal(x.shape().begin(), x.shape().begin() + sizes, given.shape().begin()))
      bad_input("{0}: scores() was given {1} of shape {2}, but returned {1} of {3}; keep the first {4} sizes", name_,
                what, to_string(given.shape()), to_string(x.shape()), sizes);
  }

  std::string name_;
  Kept layer_;
};

// A number for an option: its default, or a bound.
double number_of(const std::string& name, nb::handle standard, double most) {
  const double x = PyFloat_AsDouble(standard.ptr());
  if (PyErr_Occurred())
    PyErr_Clear();
  else if (std::abs(x) <= most)
    return x;
  bad_input("option {}: {} is not a number from {} to {}", name, text_of(standard), -most, most);
}

// A default, or (default, least, most).
Option option_of(const std::string& name, nb::handle said) {
  const std::string help = "an option of your own";
  constexpr const char* taken[] = {"parameters", "heads", "head_size", "layer", "causal"};
  if (!PyUnicode_IsIdentifier(nb::cast(name).ptr()) || std::ranges::find(taken, name) != std::end(taken))
    bad_input("option \"{}\": its name must be a Python identifier other than {}", name, fmt::join(taken, ", "));
  const bool ranged = PyTuple_Check(said.ptr()) && nb::len(said) == 3;
  const nb::object standard = ranged ? said[0] : nb::borrow(said);
  const auto range = [&](double most) {
    if (!ranged) return Range{-most, most};
    return Range{number_of(name, said[1], most), number_of(name, said[2], most)};
  };
  constexpr int whole = 1 << 24;
  if (PyBool_Check(standard.ptr())) return {name, standard.is(nb::handle(Py_True)), help};
  if (PyLong_Check(standard.ptr())) return {name, int(number_of(name, standard, whole)), range(whole), help};
  if (PyFloat_Check(standard.ptr())) return {name, number_of(name, standard, 1e9), range(1e9), help};
  bad_input("option {}: its default is a {}; give a bool, an int or a float, or (default, least, most)", name,
            type_of(standard));
}

nb::object value_of(const Choices& c, const Option& o) {
  if (o.kind == Option::Kind::toggle) return nb::cast(c.on(o.name));
  return o.kind == Option::Kind::whole ? nb::cast(c.whole(o.name)) : nb::cast(c.number(o.name));
}

}  // namespace

std::vector<Option> options_of(const nb::dict& options) {
  std::vector<Option> all;
  for (const auto& [key, standard] : options) all.push_back(option_of(nb::cast<std::string>(key), standard));
  return all;
}

nb::dict values_of(const Choices& c) {
  nb::dict chosen;
  for (const Option& o : c.options()) chosen[o.name.c_str()] = value_of(c, o);
  return chosen;
}

std::unique_lock<std::mutex> lists_at_rest(const std::string& name) {
  std::unique_lock alone(long_calls(), std::try_to_lock);
  if (!alone) bad_input("{}: another call is running and reads this list; wait until it ends", name);
  return alone;
}

namespace {

// The class lives as long as the process, like the list.
void register_encoding(const std::string& name, nb::object layer_class, const std::string& about, nb::dict options,
                       nb::dict laws) {
  const auto alone = lists_at_rest(name);
  Scheme s{.name = name,
           .options = options_of(options),
           .reads = always(Reads::positions),
           .pages = {.summary = "written in Python",
                     .about = about,
                     .formula = "yours",
                     .source = "yours", .doors = "2, 3",
                     .shows = always("The terms that positions alone add to the logit of each pair.")}};
  Laws obeyed;
  for (const auto& [key, value] : laws)
    *word_of<bool*>("law", nb::cast<std::string>(key),
                    {{"shift", &obeyed.shift},
                     {"toeplitz", &obeyed.toeplitz},
                     {"two_sided", &obeyed.two_sided},
                     {"permutes", &obeyed.permutes},
                     {"by_length", &obeyed.by_length}}) = nb::cast<bool>(value);
  s.laws = always(obeyed);
  PyObject* kind = nb::object(layer_class).release().ptr();
  s.make = [name, kind](const LayerParams& p, const ModelShape& m, const Choices& c, int layer) {
    const Calling calling;
    nb::object made = nb::handle(kind)(Params(p), m.heads, m.head_dim(), layer, m.causal, **values_of(c));
    return std::make_unique<OwnLayer>(name, std::move(made));
  };
  add_encoding(std::move(s));
}

// The positions of a sequence from draw(slots, rng) of a Python object.
std::vector<double> drawn(const std::string& name, nb::handle sampler, int slots, nb::handle rng) {
  const nb::object numbers = sampler.attr("draw")(slots, rng);
  const auto [shape, all] = prefix_errors(name + ": draw()", [&] { return positions_of(numbers); });
  if (shape != Shape{slots})
    bad_input("{}: draw() gave shape {}; it must give {} numbers, one for each slot", name, to_string(shape), slots);
  for (const double x : all)
    if (!(std::abs(x) < 1 << 24)) bad_input("{}: draw() gave position {}; give numbers below 2^24", name, x);
  return all;
}

// Each draw gets a NumPy generator that is seeded by ours, so that equal seeds of a run give equal positions.
void add_drawing(const std::string& name, nb::object sampler_class, const std::string& about, nb::dict options) {
  const auto alone = lists_at_rest(name);
  PyObject* kind = nb::object(sampler_class).release().ptr();
  add_sampler({.name = name,
               .summary = "written in Python",
               .about = about,
               .source = "yours",
               .options = options_of(options),
               .random = true,
               .draw = [name, kind](const Choices& c, const Slots& slots, Rng& rng) {
                 const uint32_t seed = rng.bits();
                 const Calling calling;
                 const nb::object sampler = nb::handle(kind)(**values_of(c));
                 const nb::object random = numpy().attr("random").attr("default_rng")(seed);
                 std::vector<double> all;
                 for (int s = 0; s < slots.sequences; ++s) {
                   const std::vector<double> one = drawn(name, sampler, slots.time, random);
                   all.insert(all.end(), one.begin(), one.end());
                 }
                 return Positions::of_tokens(slots.sequences, std::move(all));
               }});
}

nb::list check(const std::string& spelling) {
  choose_encoding(spelling);
  const auto reports = long_call([&] {
    std::vector<checks::Report> all;
    for (const checks::Check& one : checks::all_checks()) all.push_back(checks::run(one, spelling));
    return all;
  });
  nb::list rows;
  for (size_t n = 0; n < reports.size(); ++n) {
    const checks::Report& r = reports[n];
    nb::dict d;
    d["check"] = checks::all_checks()[n].name, d["law"] = checks::all_checks()[n].law;
    d["passed"] = r.failures.empty() && r.unseen.empty();
    d["worst"] = r.worst, d["bound"] = r.bound, d["why_not"] = r.why_not;
    d["failures"] = nb::cast(r.failures), d["unseen"] = nb::cast(r.unseen);
    rows.append(d);
  }
  return rows;
}

}  // namespace

void add_own(nb::module_& m) {
  nb::class_<Params>(m, "Parameters", "Makes the learned tensors of a layer, each with its own name.")
      .def("full", &Params::full, "name"_a, "shape"_a, "value"_a, "A tensor with the same number everywhere.")
      .def("normal", &Params::normal, "name"_a, "shape"_a, "std"_a, "Normally distributed numbers.")
      .def("truncated_normal", &Params::truncated_normal, "name"_a, "shape"_a, "std"_a,
           "Normally distributed numbers, within two standard deviations.")
      .def("uniform", &Params::uniform, "name"_a, "shape"_a, "low"_a, "high"_a, "Numbers from low to high.");
  m.def("add_encoding", register_encoding, "name"_a, "layer"_a, "about"_a, "options"_a, "laws"_a);
  m.def("add_sampler", add_drawing, "name"_a, "sampler"_a, "about"_a, "options"_a);
  m.def("check", check, "spelling"_a);
}

}  // namespace poslab::python
