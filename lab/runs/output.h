// The one guard for files and folders that a user names after -o and --out: a slip loses nothing.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace poslab {

// A kind of file, by what one that is there already has to be if it is to be replaced.
struct Output {
  std::string ending, what;     // ".html", "a page"; "" of a command that writes one kind under any name
  std::string begins, holds{};  // the beginning of such a file, and a text that it contains
};
Output html_output(const std::string& command);         // "poslab report"
Output csv_output(const std::string& first_columns);    // "length,set,"

// Throws BadInput, naming the option, where the path has the ending of none of these, is a run's own file, is a file of
// another kind, is "-", or lies in no folder. A missing file, an empty one, and /dev/stdout and its like are free.
void check_output(const std::string& option, const std::string& path, const std::vector<Output>&);
// Throws BadInput where a folder is asked for and the name is that of a page or a picture.
void check_names_folder(const std::string& option, const std::string& path);
// The same for a folder of files with these names. The page `own`, index.html or README.md, shows that it is earlier
// output of the same command. A run's folder is refused.
void check_output_folder(const std::string& option, const std::string& path, const std::string& own, const Output&,
                         const std::vector<std::string>& names = {});

// The folder in which another is made before it has its name.
std::string partial_of(const std::string& folder);
// Calls write(partial_of(path)), which then gets its name; if it fails, nothing is left. Throws Failure where no folder
// can be made.
void write_new_folder(const std::string& path, const std::function<void(const std::string& partial)>& write);

}  // namespace poslab
