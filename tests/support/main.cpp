// The main function of all test programs. A filter that matches no test case is an error, which doctest would miss.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <iostream>
#include <sstream>

int main(int argc, char** argv) {
  std::ostringstream count;                                  // "... passing the current filters: 0"
  doctest::Context counting(argc, argv);
  const char* const options[] = {argv[0], "--count", "--no-colors"};
  counting.applyCommandLine(3, options), counting.setCout(&count), counting.run();
  if (!count.str().ends_with(": 0\n")) return doctest::Context(argc, argv).run();
  std::cerr << argv[0] << ": no test case matches";
  for (int i = 1; i < argc; ++i) std::cerr << " '" << argv[i] << "'";
  std::cerr << "; --list-test-cases lists all; some of them need --no-skip\n";
  return 1;
}
