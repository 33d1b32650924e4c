#include "core/debug.h"

#include <cstdlib>
#include <string>

#include "core/error.h"

namespace poslab {
namespace {

int level_from_environment() {
  const char* text = std::getenv("POSLAB_DEBUG");
  const std::string level = text ? text : "0";
  if (level.size() != 1 || level[0] < '0' || level[0] > '4')
    bad_input("POSLAB_DEBUG is \"{}\"; give 1 (names of ops), 2 (where time goes), 3 (shapes), 4 (NaN check) or 0",
              level);
  return level[0] - '0';
}
int& level() {
  static int l = level_from_environment();
  return l;
}

}  // namespace

int debug_level() { return level(); }
void set_debug_level(int l) { level() = l; }

}  // namespace poslab
