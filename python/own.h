// The common part of encodings, samplers and tasks written in Python.
#pragma once
#include "core/choices.h"
#include "python/long_call.h"

namespace poslab::python {

// A Python object that code without the GIL holds.
class Kept {
 public:
  explicit Kept(nb::object object) : object_(object.release().ptr()) {}
  ~Kept() {
    if (!nb::is_alive()) return;
    const nb::gil_scoped_acquire hold;
    Py_DECREF(object_);
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  nb::handle get() const { return object_; }

 private:
  PyObject* object_;
};

// Python's state for a foreign thread. It lives as long as the thread, because making one takes longer than most calls.
class ThreadState {
 public:
  ThreadState() {
    if (PyGILState_GetThisThreadState()) return;
    PyGILState_Ensure();
    state_ = PyEval_SaveThread();
  }
  ~ThreadState() {
    if (!state_ || !nb::is_alive()) return;
    PyEval_RestoreThread(state_);
    PyGILState_Release(PyGILState_UNLOCKED);
  }
  ThreadState(const ThreadState&) = delete;
  ThreadState& operator=(const ThreadState&) = delete;

 private:
  PyThreadState* state_ = nullptr;
};

// Holds the GIL during a method written in Python, which training calls from threads without it, or Python calls.
class Calling {
 public:
  Calling() { within_long_call() = before_ || !std::unique_lock(long_calls(), std::try_to_lock); }
  ~Calling() { within_long_call() = before_; }
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;

 private:
  static const ThreadState& of_this_thread() {
    static thread_local const ThreadState state;
    return state;
  }
  const ThreadState& stays_ = of_this_thread();
  nb::gil_scoped_acquire hold_;
  bool before_ = within_long_call();
};

// Options of a class: names, and defaults or (default, least, most). Throws BadInput.
std::vector<Option> options_of(const nb::dict&);
nb::dict values_of(const Choices&);  // by name, as Python values

// While this lock lives, no long call reads the lists, so they may change. Throws BadInput while one runs.
std::unique_lock<std::mutex> lists_at_rest(const std::string& name);

}  // namespace poslab::python
