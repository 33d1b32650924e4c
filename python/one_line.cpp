// A call without a matching signature raises a TypeError of one line, with the arguments and the signatures. nanobind
// writes each signature on a line of its own and has no hook for this, so its functions are called through ours: the
// pointer to an object's call (PEP 590) follows the object's head. Functions without this layout are left alone.
#include <dlfcn.h>

#include <cstring>
#include <sstream>
#include <unordered_map>

#include "python/convert.h"

namespace poslab::python {
namespace {

using Call = PyObject* (*)(PyObject* function, PyObject* const* args, size_t count, PyObject* names);

struct Function {
  PyVarObject head;
  Call call;
};

std::unordered_map<PyObject*, Call>& nanobinds() {  // nanobind's own function for each wrapped one
  static std::unordered_map<PyObject*, Call> all;
  return all;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// An argument as shown in the error: a number, a short text, or the type.
std::string given(nb::handle x) {
  const std::string kind = type_of(x);
  if (kind != "int" && kind != "float" && kind != "str" && kind != "bool") return x.is_none() ? "None" : kind;
  const std::string value = nb::cast<std::string>(nb::repr(x));
  return value.size() > 40 ? kind : value;
}

bool is_wide(nb::handle x) {
  int overflow = 0;
  if (!PyLong_Check(x.ptr())) return false;
  const long long n = PyLong_AsLongLongAndOverflow(x.ptr(), &overflow);
  return overflow || n != int(n);
}

// Shortens "    1. rotate(x: object, pairing: str) -> poslab._poslab.Tensor" to rotate(x, pairing: str).
std::string signature(std::string line, const std::string& name) {
  line = line.substr(line.find(". ") + 2);
  line = name + line.substr(line.find('('));
  line = line.substr(0, line.rfind(" -> "));
  for (const char* noise : {"(self, /)", "(self)"}) replace_all(line, noise, "()");
  for (const char* noise :
       {"self, ", ": object | None", ": object", ", /", "poslab._poslab.", "_inside.", "collections.abc."})
    replace_all(line, noise, "");
  return line;
}

std::string in_one_line(const std::string& text, PyObject* const* args, size_t count, PyObject* names) {
  std::istringstream lines(text);
  std::string line, name = text.substr(0, text.find('(')), takes;
  const bool method = text.find("(self") != std::string::npos;
  if (name == "__init__") name = type_of(args[0]);
  if (name.empty()) name = "value";               // a setter of an attribute
  while (std::getline(lines, line))
    if (line.starts_with("    ")) takes += (takes.empty() ? "" : " or ") + signature(line, name);
  const size_t named = names ? nb::len(nb::handle(names)) : 0;
  std::vector<std::string> all;
  bool wide = false;
  for (size_t n = method; n < count + named; ++n) {
    const std::string word = n < count ? "" : nb::cast<std::string>(nb::handle(names)[n - count]) + "=";
    all.push_back(word + given(args[n])), wide |= is_wide(args[n]);
  }
  return fmt::format("{}: ({}) does not fit; give {}{}", name, fmt::join(all, ", "), takes,
                     wide ? ", an int of 32 bits, and a seed of 64" : "");
}

PyObject* called(PyObject* function, PyObject* const* args, size_t count, PyObject* names) {
  PyObject* result = nanobinds().find(function)->second(function, args, count, names);
  if (result || !PyErr_ExceptionMatches(PyExc_TypeError)) return result;
  nb::python_error error;
  const std::string text = text_of(error.value());
  if (text.find("(): incompatible function arguments. The following") == std::string::npos) {
    error.restore();
    return nullptr;
  }
  constexpr size_t number = 0xffff'ffff;  // number of arguments; bits above are flags
  try {
    PyErr_SetString(PyExc_TypeError, in_one_line(text, args, count & number, names).c_str());
  } catch (...) { PyErr_SetString(PyExc_TypeError, text.c_str()); }
  return nullptr;
}

void replace(nb::handle function) {
  auto* own = reinterpret_cast<Function*>(function.ptr());
  Dl_info from;
  if (!dladdr(reinterpret_cast<void*>(own->call), &from) || !from.dli_fname || !std::strstr(from.dli_fname, "nanobind"))
    return;
  nanobinds().emplace(function.ptr(), std::exchange(own->call, called));
}

}  // namespace

void shorten_errors(nb::handle scope) {
  for (const nb::handle x : nb::list(nb::borrow<nb::dict>(scope.attr("__dict__").attr("copy")()).values())) {
    const std::string kind = type_of(x);
    if (kind == "nb_func" || kind == "nb_method")
      replace(x);
    else if (kind == "property")
      for (const char* part : {"fget", "fset"}) {
        if (const nb::object f = x.attr(part); type_of(f) == "nb_func" || type_of(f) == "nb_method") replace(f);
      }
    else if (PyType_Check(x.ptr()) || kind == "module")
      shorten_errors(x);
  }
}

}  // namespace poslab::python
