// JSON, read in one place for the whole program. Files come from strangers, too: values nested too deeply, and objects
// that have one key twice, are refused.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace poslab {

using Json = nlohmann::ordered_json;             // objects keep their order
// The value that a whole text is. Throws BadInput, which begins with `what`: "DIR/config.json".
Json parse_json(std::string_view text, const std::string& what);
// Text that may be cut off or of another program: discarded (is_discarded(), no object, no list) if it is not JSON.
Json try_json(std::string_view text);
// A value as a message shows it: of a long one the beginning.
std::string in_short(const Json&);
// A whole number from 0 to `most`; nothing if it is another value, as 1.5, -1, 2^70 or "1".
std::optional<uint64_t> whole_number(const Json&, uint64_t most);

}  // namespace poslab
