// Files written atomically, and errors that name the file and the reason.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

namespace poslab {

// A regular file, open for reading. Pipes and devices throw Failure, because reading them might never end.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  int number() const { return file_; }
  uint64_t size() const { return size_; }
  std::string read(uint64_t from, uint64_t bytes) const;  // throws Failure if the file has become shorter

 private:
  std::string path_;
  int file_ = -1;
  uint64_t size_ = 0;
};
// Throws BadInput if the name is missing, or is a folder, a pipe, a device or a link to itself.
void require_file(const std::string& path);
std::string read_file(const std::string& path);  // throws Failure
// like read_file(), but throws as require_file() does for a bad name, such as one that the user typed
std::string read_input(const std::string& path);
std::string read_lines(const std::string& path);  // read_input() without the byte order mark that some editors write
// The message for an exception of std::filesystem: "cannot access loop: Too many levels of symbolic links".
std::string said_by(const std::filesystem::filesystem_error&);
// Whether the name causes this error, so that another name would help.
bool bad_name(const std::error_code&);
void make_folder(const std::string& path);        // with missing folders above
// Throws Failure if no files can be made in this folder; called before the work whose results go there.
void check_writable(const std::string& folder);
// Writes PATH.poslab.partial, syncs it to disk, and renames it to PATH. Another process that writes the same PATH
// waits; leftovers of a killed one are overwritten. An error leaves an old PATH unchanged: BadInput for an impossible
// name (a missing folder, a folder itself), Failure if the disk refuses. A link stays, and the file that it leads to is
// replaced. A device, a pipe, and an open file such as /dev/stdout are written to in place.
void write_file(const std::string& path, const std::string& bytes);
// closed with its last owner, or by execv() if it was opened with O_CLOEXEC
std::shared_ptr<const int> owned_file(int file);
void write_all(int file, const std::string& bytes, const std::string& path);  // to an open file; throws Failure
void confirm(int file, const std::string& path);                              // fsync; throws Failure

}  // namespace poslab
