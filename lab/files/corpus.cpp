#include "lab/files/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>

#include "core/checksum.h"
#include "core/error.h"
#include "core/stop.h"
#include "lab/files/files.h"
#include "lab/files/json.h"

namespace poslab {
namespace fs = std::filesystem;
namespace {

constexpr const char* format = "poslab vocabulary 1";
constexpr int64_t piece = 1 << 20;  // bytes in one read

std::string bytes_at(const std::string& path, int64_t from, int64_t bytes) {
  const InputFile file(path);
  if (uint64_t(from + bytes) > file.size())
    failure("cannot read bytes {} .. {} of {}: it has become shorter; the text must not change while it is used", from,
            from + bytes - 1, path);
  return file.read(uint64_t(from), uint64_t(bytes));
}

// The reason for skipping the file; "" if it is text.
std::string why_not(const std::string& path, int64_t bytes) {
  if (bytes == 0) return "it is empty";
  std::string head;
  try {
    head = InputFile(path).read(0, uint64_t(std::min<int64_t>(bytes, 8192)));
  } catch (const Failure& e) { return e.what(); }
  const size_t zero = head.find('\0');
  return zero == head.npos ? "" : fmt::format("it has a zero byte at {}, so it is not text", zero);
}

bool hidden(const fs::path& p) { return p.filename().string().rfind('.', 0) == 0; }

bool within(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// Paths within the folder, with '/', sorted. Links to folders are followed last, and never into a folder that was
// already read: a link to a parent folder would never end.
std::vector<std::string> files_below(const std::string& folder, std::vector<std::string>& passed_over) {
  std::error_code error;
  std::vector<std::string> all, links = {""};
  std::vector<fs::path> read;
  for (size_t n = 0; n < links.size(); ++n) {
    const fs::path top = fs::path(folder) / links[n], real = fs::canonical(top, error);
    if (std::any_of(read.begin(), read.end(), [&](const fs::path& one) { return within(real, one); })) {
      passed_over.push_back(links[n] + ": it links to a folder that is already read");
      continue;
    }
    read.push_back(real);
    const auto first_new = long(links.size());
    fs::recursive_directory_iterator at(top, fs::directory_options::skip_permission_denied, error), end;
    if (error) failure("cannot read the folder {}: {}", top.string(), error.message());
    while (at != end) {
      stop_if_requested();
      const std::string name = at->path().lexically_relative(folder).generic_string();
      if (hidden(at->path())) {
        if (at->is_directory(error)) at.disable_recursion_pending();
      } else if (!at->is_directory(error)) {
        all.push_back(name);
      } else if (fs::directory_iterator(at->path(), error); error) {
        passed_over.push_back(name + ": it cannot be read: " + error.message());
      } else if (at->is_symlink(error)) {
        links.push_back(name);
      }
      at.increment(error);
      if (error) failure("cannot read the folder {}: {}", top.string(), error.message());
    }
    std::sort(links.begin() + first_new, links.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

Corpus open_corpus(const std::string& path) {
  std::error_code error;
  if (path.empty()) bad_input("no text is given; name a file or a folder");
  if (!fs::exists(path, error)) bad_input("there is no file or folder {}; name one that exists", path);
  const bool folder = fs::is_directory(path, error);
  if (!folder && !fs::is_regular_file(path, error)) bad_input("{} is neither a file nor a folder", path);
  Corpus c{.path = path};
  const std::string root = folder ? path + "/" : "";
  for (const std::string& name : folder ? files_below(path, c.passed_over) : std::vector{path}) {
    const auto bytes = fs::file_size(root + name, error);
    const std::string why = error ? "it cannot be read: " + error.message() : why_not(root + name, int64_t(bytes));
    if (why.empty())
      c.text.files.push_back({folder ? name : fs::path(path).filename().string(), int64_t(bytes)});
    else
      c.passed_over.push_back(name + ": " + why);
  }
  std::sort(c.passed_over.begin(), c.passed_over.end());
  if (c.text.files.empty() && !folder) bad_input("{}; name a text", c.passed_over[0]);
  if (c.text.files.empty() && c.passed_over.empty()) bad_input("the folder {} has no files; name one with text", path);
  if (c.text.files.empty())
    bad_input("no file in the folder {} is text; the first of {} is {}", path, c.passed_over.size(), c.passed_over[0]);
  c.text.read = [root, path, folder](const TextFile& f, int64_t from, int64_t bytes) {
    return bytes_at(folder ? root + f.path : path, from, bytes);
  };
  return c;
}

std::string Corpus::summary() const {
  const auto count = text.files.size();
  std::string all =
      fmt::format("{}: {} file{}, {:.3g} MB", path, count, count == 1 ? "" : "s", double(text.bytes()) / 1e6);
  return passed_over.empty() ? all : all + fmt::format(", {} skipped", passed_over.size());
}

std::string checksum_of(const Text& text, const TextFile& file) {
  Checksum all;
  for (int64_t at = 0; at < file.bytes; at += piece) {
    stop_if_requested();
    const std::string bytes = text.read(file, at, std::min(piece, file.bytes - at));
    all.add(bytes.data(), bytes.size());
  }
  return all.digits();
}

std::string compilers_headers(const std::string& folder) {
  std::error_code error;
  std::string newest;
  int version = -1;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    const int its = std::atoi(name.c_str());  // "14", or "14.2.0"
    if (entry.is_directory(error) && its > version) newest = entry.path(), version = its;
  }
  if (newest.empty())
    bad_input("there are no C++ headers in {}, the default text; name a file or a folder", folder);
  return newest;
}

WordCounts words_of(const Text& text, int64_t most) {
  std::vector<TextFile> files = text.files;
  std::sort(files.begin(), files.end(), [](const TextFile& a, const TextFile& b) {
    return std::pair(hash_of(a.path), a.path) < std::pair(hash_of(b.path), b.path);
  });
  WordCounts counts;
  int64_t left = most;
  for (const TextFile& f : files)
    for (int64_t at = 0; at < f.bytes && left > 0; at += piece) {
      stop_if_requested();
      const int64_t bytes = std::min({piece, f.bytes - at, left});
      count_words(counts, text.read(f, at, bytes));
      left -= bytes;
    }
  return counts;
}

std::string to_json(const Vocabulary& v) { return Json{{"format", format}, {"merges", v.merges()}}.dump() + "\n"; }

Vocabulary vocabulary_of(const std::string& text, const std::string& path) {
  const Json all = try_json(text);
  if (!all.is_object() || !all.contains("format") || all["format"] != format)
    failure("{} is not a vocabulary of this version of poslab: its \"format\" is not \"{}\"", path, format);
  std::vector<Vocabulary::Merge> merges;
  const Json list = all.value("merges", Json());
  if (!list.is_array()) failure("{} is damaged: it has no list of merges", path);
  for (const Json& m : list) {
    const bool two = m.is_array() && m.size() == 2;
    const auto left = two ? whole_number(m[0], INT_MAX) : std::nullopt,
               right = two ? whole_number(m[1], INT_MAX) : left;
    if (!left || !right)
      failure("{} is damaged: merge {} is {}, not the numbers of two tokens", path, merges.size(), in_short(m));
    merges.emplace_back(int(*left), int(*right));
  }
  return prefix_errors(path, [&] { return Vocabulary(std::move(merges)); });
}

}  // namespace poslab
