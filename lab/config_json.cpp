#include "lab/config_json.h"

#include "core/error.h"

namespace poslab {

nlohmann::ordered_json config_json(const Config& c) {
  nlohmann::ordered_json config;
  for (const RunOption& o : all_options()) {
    if (!written(c, o)) continue;
    std::visit(
        [&](auto field) {
          if constexpr (std::is_same_v<decltype(field), Lengths Config::*>)
            config[o.name] = get(c, o);
          else if constexpr (std::is_same_v<decltype(field), Option>) {
            if (o.toggle()) config[o.name] = get(c, o) == "on";
            else config[o.name] = get(c, o);
          } else
            config[o.name] = c.*field;
        },
        o.field);
  }
  return config;
}

Config config_of(const nlohmann::ordered_json& config) {
  if (!config.is_object()) bad_input("a configuration is a JSON object, not {}", config.dump());
  Settings settings;
  for (auto& [name, value] : config.items())
    settings.emplace_back(option(name).name, value.is_string()    ? value.get<std::string>()
                                             : value.is_boolean() ? std::string(value.get<bool>() ? "on" : "off")
                                                                  : value.dump());
  return configure(settings);
}

}  // namespace poslab
