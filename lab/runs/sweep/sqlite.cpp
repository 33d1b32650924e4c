// Tables as an SQLite database. It is made in memory and leaves as bytes, so that the file is there whole or not at
// all.
#include <sqlite3.h>

#include <memory>

#include "core/error.h"
#include "lab/runs/sweep/collect.h"

namespace poslab::sweep {
namespace {

using Database = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;
using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

void must(int result, int expected, sqlite3* database) {
  if (result != expected) failure("SQLite: {}", sqlite3_errmsg(database));
}

Statement prepare(sqlite3* database, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  must(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr), SQLITE_OK, database);
  return {statement, sqlite3_finalize};
}

void run(sqlite3* database, const std::string& sql) {
  must(sqlite3_step(prepare(database, sql).get()), SQLITE_DONE, database);
}

int bind(sqlite3_stmt* statement, int place, const nlohmann::json& cell) {
  if (cell.is_null()) return sqlite3_bind_null(statement, place);
  if (cell.is_boolean()) return sqlite3_bind_int(statement, place, cell.get<bool>());
  if (cell.is_number_integer()) return sqlite3_bind_int64(statement, place, cell.get<int64_t>());
  if (cell.is_number()) return sqlite3_bind_double(statement, place, cell.get<double>());
  const std::string text = cell.get<std::string>();
  return sqlite3_bind_text(statement, place, text.c_str(), int(text.size()), SQLITE_TRANSIENT);
}

void add(sqlite3* opened, const std::string& name, const Table& table) {
  std::string columns, places;
  for (const std::string& column : table.columns) {
    columns += fmt::format("\"{}\", ", column);
    places += places.empty() ? "?" : ", ?";
  }
  run(opened, fmt::format("CREATE TABLE {} ({}PRIMARY KEY ({}))", name, columns, table.key));
  run(opened, "BEGIN");
  const Statement insert = prepare(opened, fmt::format("INSERT INTO {} VALUES ({})", name, places));
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) must(bind(insert.get(), int(i) + 1, row[i]), SQLITE_OK, opened);
    must(sqlite3_step(insert.get()), SQLITE_DONE, opened);
    must(sqlite3_reset(insert.get()), SQLITE_OK, opened);
  }
  run(opened, "COMMIT");
}

}  // namespace

std::string to_sqlite(const Collected& all) {
  sqlite3* opened = nullptr;
  const int result = sqlite3_open(":memory:", &opened);
  const Database database(opened, sqlite3_close);
  must(result, SQLITE_OK, opened);
  add(opened, "trials", all.trials);
  add(opened, "lengths", all.lengths);
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> bytes(sqlite3_serialize(opened, "main", &size, 0),
                                                                      sqlite3_free);
  if (!bytes) failure("SQLite: out of memory for a database of {} bytes", size);
  return {reinterpret_cast<const char*>(bytes.get()), size_t(size)};
}

}  // namespace poslab::sweep
