// The Python module: a door to the libraries, and no second implementation. What a user sees is python/poslab/, which
// adds pictures and names to what stands here.
#include "autograd/tape.h"
#include "autograd/tape_steps.h"
#include "core/kernels.h"
#include "core/parallel.h"
#include "core/stop.h"
#include "lab/interrupt.h"
#include "lab/version.h"
#include "python/convert.h"

namespace poslab::python {
namespace {

// Errors of the engine, with the same words. Failure is a std::runtime_error, which is RuntimeError already.
void translate(const std::exception_ptr& e, void*) {
  try {
    std::rethrow_exception(e);
  } catch (const BadInput& bad) { PyErr_SetString(PyExc_ValueError, bad.what()); } catch (const Interrupted& stopped) {
    PyErr_SetString(PyExc_KeyboardInterrupt, stopped.what());
  } catch (const Stopped& stopped) { PyErr_SetString(PyExc_KeyboardInterrupt, stopped.what()); }
}

// NoGrad or KeepInputs as a block of Python; may be nested.
template <class Guard>
class Block {
 public:
  Block() = default;
  Block(const Block&) = delete;
  void enter() { blocks_.push_back(std::make_unique<Guard>()); }
  void exit() {
    if (!blocks_.empty()) blocks_.pop_back();
  }

 private:
  std::vector<std::unique_ptr<Guard>> blocks_;
};
template <class Guard>
void add_block(nb::module_& m, const char* name, const char* doc) {
  using Guarded = Block<Guard>;
  nb::class_<Guarded>(m, name, doc)
      .def(nb::init<>())
      .def("__enter__", &Guarded::enter)
      .def("__exit__", [](Guarded& b, nb::args) { b.exit(); });
}

}  // namespace

NB_MODULE(_poslab, m) {
  nb::register_exception_translator(translate);
  nb::set_leak_warnings(false);        // encodings written in Python stay in the list to the end
  add_tensor(m);
  add_ops(m);
  nb::module_ inside = m.def_submodule("_inside", "What the files of the package call; not for others.");
  add_lists(inside);
  add_encodings(inside);
  add_tasks(inside);
  add_runs(inside);
  add_own(inside);

  add_block<NoGrad>(m, "no_grad", "with pl.no_grad(): nothing is recorded inside, so nothing needs backward().");
  add_block<KeepInputs>(inside, "keep_inputs", "What is recorded inside keeps all that its ops read.");
  inside.def(
      "tape_steps",
      [] {
        nb::list all;
        for (const TapeStep& s : tape_steps()) all.append(nb::make_tuple(s.op, s.inputs, s.results));
        return all;
      },
      "The ops on this thread's tape, in order: (name, inputs, results). Inputs are of ops inside keep_inputs.");
  m.def("clear_tape", clear_tape, "Forget what this thread has recorded: a forward pass that will have no backward().");
  m.def("tape_length", tape_length, "How many ops this thread has recorded since the last backward().");
  m.def("threads", threads, "How many threads an op may use; results do not depend on it.");
  m.def("set_threads", set_threads, "n"_a, "Use so many threads, 1 to 256.");
  m.def(
      "about",
      [] {
        nb::dict all;
        for (const auto& [name, word] : about()) all[name.c_str()] = word;
        return all;
      },
      "Version, commit, instruction set and threads, as `poslab version` prints them.");
  // What is recorded may hold arrays of Python, which must go before Python does.
  nb::module_::import_("atexit").attr("register")(m.attr("clear_tape"));
}

}  // namespace poslab::python
