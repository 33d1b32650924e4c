// The program's only JSON parser. Files may be malicious: values nested too deeply, and objects with a repeated key,
// are refused.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace poslab {

using Json = nlohmann::ordered_json;             // objects keep their order
// The value of a whole text. Throws BadInput with a message that begins with `what`, as "DIR/config.json".
Json parse_json(std::string_view text, const std::string& what);
// The value of a text that may be incomplete or written by another program. If it is not JSON, returns a discarded
// value (is_discarded(), neither an object nor a list).
Json try_json(std::string_view text);
// A value as text for a message; only its beginning if it is long.
std::string in_short(const Json&);
// A whole number from 0 to `most`; empty for another value, such as 1.5, -1, 2^70 or "1".
std::optional<uint64_t> whole_number(const Json&, uint64_t most);

}  // namespace poslab
