// Files written atomically, and errors that name the file and the reason.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

namespace poslab {

// A file that is open to be read from beginning to end: a regular one, so that reading never waits for a pipe or for a
// device that never ends. Throws Failure for anything else.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  int number() const { return file_; }
  uint64_t size() const { return size_; }
  std::string read(uint64_t from, uint64_t bytes) const;  // throws Failure where the file has become shorter

 private:
  std::string path_;
  int file_ = -1;
  uint64_t size_ = 0;
};
// Throws BadInput unless such a file has this name: nothing has, or a folder, a pipe, a device or a link to itself.
void require_file(const std::string& path);
std::string read_file(const std::string& path);  // throws Failure
std::string read_input(const std::string& path);  // of a name that the user typed, or a folder of others: require_file
std::string read_lines(const std::string& path);  // read_input without the byte order mark that some editors write
// What std::filesystem says where it throws, in our words: "cannot look at loop: Too many levels of symbolic links".
std::string said_by(const std::filesystem::filesystem_error&);
// Whether the name is at fault, and another one helps.
bool bad_name(const std::error_code&);
void make_folder(const std::string& path);        // with those above it, where they are missing
// Throws Failure where no files can be made in this folder: before the work whose results it is to keep.
void check_writable(const std::string& folder);
// Writes PATH.poslab.partial, has the disk confirm it, renames it to PATH. Another process that writes the same PATH
// waits; the leftovers of a killed one are written over.
// Throws and leaves an old PATH unchanged: BadInput where the name cannot be one (no such folder, is a folder), Failure
// where the disk refuses. A link stays, and the file that it leads to is replaced. A device, a pipe and an open file,
// as /dev/stdout, are written to.
void write_file(const std::string& path, const std::string& bytes);
std::shared_ptr<const int> owned_file(int file);  // closed with its last owner, and by execv() if it was opened so
void write_all(int file, const std::string& bytes, const std::string& path);  // to an open file; throws Failure
void confirm(int file, const std::string& path);                              // fsync; throws Failure

}  // namespace poslab
