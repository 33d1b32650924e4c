#include "lab/files/converter.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/shell.h"

extern char** environ;

namespace poslab {
namespace {

const char* const converter = "rsvg-convert";
constexpr int dots_per_inch = 300;

bool on_the_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string rest = path ? std::string(path) + ":" : "";
  for (size_t end; (end = rest.find(':')) != std::string::npos; rest.erase(0, end + 1))
    if (::access((rest.substr(0, end) + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

// Files without a name rather than pipes: nobody has to read while somebody writes.
using Unnamed = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
Unnamed unnamed() {
  Unnamed file(std::tmpfile(), std::fclose);
  if (!file) failure("cannot make a file for {}: {}", converter, std::strerror(errno));
  return file;
}

std::string contents(std::FILE* file) {
  std::string all;
  std::array<char, 1 << 16> part;
  for (ssize_t n; (n = ::pread(::fileno(file), part.data(), part.size(), off_t(all.size()))) > 0;)
    all.append(part.data(), size_t(n));
  return all;
}

std::string converted(const std::string& svg, const std::string& format, int dots) {
  const Unnamed in = unnamed(), out = unnamed(), said = unnamed();
  write_all(::fileno(in.get()), svg, "a file for the converter");
  ::lseek(::fileno(in.get()), 0, SEEK_SET);
  const std::string each = std::to_string(dots);
  std::vector<std::string> words = {converter, "--format", format, "--dpi-x", each, "--dpi-y", each};
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  for (const auto& [file, number] : {std::pair{&in, 0}, {&out, 1}, {&said, 2}})
    ::posix_spawn_file_actions_adddup2(&files, ::fileno(file->get()), number);
  pid_t child = -1;
  const int error = ::posix_spawnp(&child, converter, &files, nullptr, all.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (error) failure("cannot start {}: {}", converter, std::strerror(error));
  int raw = -1;
  while (::waitpid(child, &raw, 0) < 0)
    if (errno != EINTR) failure("cannot wait for {}: {}", converter, std::strerror(errno));
  std::string made = contents(out.get());
  if (raw == 0 && made.starts_with(format == "pdf" ? "%PDF-" : "\x89PNG\r\n")) return made;
  const std::string words_of_it = contents(said.get());
  failure("{} could not convert the picture to {}: {}; write it as .svg, which needs no converter", converter, format,
          words_of_it.empty() ? "it gave no reason" : words_of_it.substr(0, words_of_it.find('\n')));
}

std::string big_endian(uint32_t n) { return {char(n >> 24), char(n >> 16), char(n >> 8), char(n)}; }

}  // namespace

bool needs_converter(const std::string& path) { return path.ends_with(".pdf") || path.ends_with(".png"); }

void require_converter(const std::string& option, const std::string& path) {
  if (needs_converter(path) && !on_the_path(converter))
    bad_input(
        "{} {}: there is no {} on the PATH, which makes PDF and PNG; install it (Debian: apt install "
        "librsvg2-bin; brew and conda: librsvg), or write .svg or .tex",
        option, shell_path(path), converter);
}

// With 72 dots per inch a dot is a point, for all versions of the converter.
std::string pdf_of(const std::string& svg) { return converted(svg, "pdf", 72); }

std::string png_of(const std::string& svg) {
  std::string png = converted(svg, "png", dots_per_inch);
  // How many dots a meter has, in a chunk of its own after the first: length, name, contents, sum.
  const uint32_t dots = uint32_t(dots_per_inch / .0254 + .5);
  const std::string says = "pHYs" + big_endian(dots) + big_endian(dots) + '\1';
  const uint32_t sum = uint32_t(crc32_z(0, reinterpret_cast<const Bytef*>(says.data()), says.size()));
  const size_t head = 8 + 4 + 4 + 13 + 4;  // the signature, and IHDR
  if (png.size() > head && png.find("pHYs") == std::string::npos)
    png.insert(head, big_endian(9) + says + big_endian(sum));
  return png;
}

}  // namespace poslab
