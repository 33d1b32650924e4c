// In a student's folder, a call of hole() replaces each body that has been cut out (course/marks.py).
#pragma once

namespace course {

struct Hole {
  const char* key;
};  // "3 softmax": the step and the name of the body

}  // namespace course

[[noreturn]] inline void hole(const char* key) { throw course::Hole{key}; }
