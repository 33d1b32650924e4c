// The lines of the second source's tables.
#pragma once
#include <optional>

#include "lab/papers/chi2023/chi2023.h"
#include "lab/papers/pivot.h"
#include "lab/papers/wording.h"

namespace poslab::reproduce::chi2023 {

std::vector<Line> of_lengths(const std::vector<int>&, std::optional<int> trained = {});  // the trained one says so
std::vector<Line> of_modes(const std::vector<Mode>&);
Line of_task(const Test&);  // "line, entropy"
// A table of the source's own numbers (lab/papers/paper.h): `rows` of its table `table`, under these names.
void add_source(Section&, const std::string& caption, const std::string& corner, const std::vector<std::string>& names,
                const std::vector<int>& columns, const std::string& table, const std::vector<std::string>& rows, Unit);

}  // namespace poslab::reproduce::chi2023
