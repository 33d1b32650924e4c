// The Python module: bindings of the libraries. Users import python/poslab/, which adds pictures and names.
#include "autograd/tape.h"
#include "autograd/observe.h"
#include "core/backend.h"
#include "core/engine.h"
#include "core/kernels.h"
#include "core/platform/parallel.h"
#include "core/stop.h"
#include "lab/files/advice.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/printable.h"
#include "lab/files/version.h"
#include "python/long_call.h"
#ifdef POSLAB_CUDA
#include "cuda/backend.h"
#endif

namespace poslab::python {
namespace {

// Translates the engine's errors, with unchanged messages.
void translate(const std::exception_ptr& e, void*) {
  const auto set = [](PyObject* kind, const std::string& text) { PyErr_SetString(kind, printable(text).c_str()); };
  try {
    std::rethrow_exception(e);
  } catch (const BadInput& bad) { set(PyExc_ValueError, bad.what()); } catch (const Interrupted& stopped) {
    set(PyExc_KeyboardInterrupt, stopped.what());
  } catch (const Stopped& stopped) { set(PyExc_KeyboardInterrupt, stopped.what()); } catch (const Failure& failed) {
    set(PyExc_RuntimeError, failed.what());
  } catch (const std::filesystem::filesystem_error& error) {
    set(bad_name(error.code()) ? PyExc_ValueError : PyExc_RuntimeError, said_by(error));
  }
}

// NoGrad for a with-block of Python, which may be nested.
class NoGradBlock {
 public:
  NoGradBlock() = default;
  NoGradBlock(const NoGradBlock&) = delete;
  void enter() { blocks_.push_back(std::make_unique<NoGrad>()); }
  void exit(nb::args) {
    if (!blocks_.empty()) blocks_.pop_back();
  }

 private:
  std::vector<std::unique_ptr<NoGrad>> blocks_;
};

// The ops that this thread records between enter() and exit(), in order, with their inputs and results.
class TapeReader {
 public:
  struct Step {
    std::string op;
    std::vector<Tensor> inputs, results;
  };
  void enter() { watch_ = std::make_unique<Watch>(steps_); }
  void exit() { watch_.reset(); }
  nb::list steps() const {
    nb::list all;
    for (const Step& s : steps_) all.append(nb::make_tuple(s.op, s.inputs, s.results));
    return all;
  }

 private:
  struct Watch : TapeWatch {
    explicit Watch(std::vector<Step>& to) : steps(to) {}
    void after_forward(size_t, const char* op, const std::vector<Tensor>& results,
                       const std::vector<Tensor>& inputs) override {
      Step s{op, inputs, results};
      std::erase_if(s.inputs, [](const Tensor& x) { return !x; });
      steps.push_back(std::move(s));
    }
    void before_backward(size_t) override {}
    void after_backward(size_t) override {}
    std::vector<Step>& steps;
  };
  std::vector<Step> steps_;
  std::unique_ptr<Watch> watch_;
};

}  // namespace

NB_MODULE(_poslab, m) {
#ifdef POSLAB_CUDA
  add_backend(Device::cuda, cuda::as_backend());
#endif
  m.attr("__version__") = version();
  nb::register_exception_translator(translate);
  nb::set_leak_warnings(false);        // encodings written in Python stay in the list until the end
  add_tensor(m);
  add_ops(m);
  nb::module_ inside = m.def_submodule("_inside", "Functions for the package's own files.");
  add_lists(inside);
  add_encodings(inside);
  add_tasks(inside);
  add_runs(inside);
  add_sweeps(inside);
  add_pages(inside);
  add_own(inside);
  add_own_task(inside);
  add_model(inside);

  nb::class_<NoGradBlock>(m, "no_grad", "with pl.no_grad(): nothing is recorded inside, so nothing needs backward().")
      .def(nb::init<>())
      .def("__enter__", &NoGradBlock::enter)
      .def("__exit__", &NoGradBlock::exit);
  nb::class_<TapeReader>(inside, "TapeReader", "Reads what this thread records: steps are (name, inputs, results).")
      .def(nb::init<>())
      .def("enter", &TapeReader::enter)
      .def("exit", &TapeReader::exit)
      .def("steps", &TapeReader::steps);
  m.def("clear_tape", clear_tape, "Forgets the ops that this thread has recorded, if backward() will not run.");
  m.def("tape_length", tape_length, "How many ops this thread has recorded since the last backward().");
  inside.def("recording", recording, "Whether ops on this thread are recorded: not within no_grad().");
  m.def("threads", threads, "How many threads an op may use; results do not depend on it.");
  m.def("set_threads", set_threads, "n"_a, "Makes ops use this many threads, 1 to 256.");
  m.def("products", [] { return engine_names[int(default_engine())]; },
        "The engine of matrix products outside of runs, and of new runs: own, openblas or naive.");
  m.def(
      "set_products",
      [](const std::string& name) {
        set_default_engine(word_of<Engine>("products", name, {{"own", Engine::own}, {"openblas", Engine::openblas},
                                                            {"naive", Engine::naive}}));
      },
      "name"_a, "Sets the engine of matrix products from now on. Existing runs keep theirs.");
  m.def(
      "about",
      [] {
        nb::dict all;
        for (const auto& [name, word] : about()) all[name.c_str()] = word;
        return all;
      },
      "Version, commit, instruction set, engine of products and threads, as `poslab version` prints them.");
  shorten_errors(m);
  survive_forks();
  give_advice();
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(end_long_calls));
  // The tape may hold arrays of Python, which must be freed before Python ends.
  nb::module_::import_("atexit").attr("register")(m.attr("clear_tape"));
}

}  // namespace poslab::python
