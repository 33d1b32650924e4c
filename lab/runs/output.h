// Guards the files and folders that a user names after -o and --out, so that a slip loses nothing.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace poslab {

// A kind of file, and how to recognize an existing one that may be replaced.
struct Output {
  std::string ending, what;     // ".html", "a page"; "" for a command that writes one kind under any name
  std::string begins, holds{};  // the beginning of such a file, and a text within it
};
Output html_output(const std::string& command);         // "poslab report"
Output csv_output(const std::string& first_columns);    // "length,set,"

// Throws BadInput, naming the option, if the path has another ending than these, is "-", is a run's own file or a file
// of another kind, or its folder does not exist. A missing file, an empty one, and devices such as /dev/stdout may be
// written.
void check_output(const std::string& option, const std::string& path, const std::vector<Output>&);
// Throws BadInput for a name that ends like a page or a picture, where a folder is needed.
void check_names_folder(const std::string& option, const std::string& path);
// The same for a folder that gets files with these names. The page `own`, index.html or README.md, marks earlier output
// of the same command. A run's folder is refused.
void check_output_folder(const std::string& option, const std::string& path, const std::string& own, const Output&,
                         const std::vector<std::string>& names = {});

// The name under which a new folder is made until it is complete.
std::string partial_of(const std::string& folder);
// Calls write(partial_of(path)) and then renames the result; a failure leaves nothing. Throws Failure if no folder can
// be made.
void write_new_folder(const std::string& path, const std::function<void(const std::string& partial)>& write);

}  // namespace poslab
