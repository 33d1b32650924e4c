#include "experiment/results.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace poslab {

Columns columns(std::vector<Column> all) { return std::make_shared<const std::vector<Column>>(std::move(all)); }

Row::Row(Columns columns, std::vector<Cell> cells) : columns_(std::move(columns)), cells_(std::move(cells)) {
  if (cells_.size() != columns_->size())
    failure("a row of {} cells in a table of {} columns", cells_.size(), columns_->size());
}

size_t Row::place(std::string_view column) const {
  const auto at = std::find_if(columns_->begin(), columns_->end(), [&](const Column& c) { return c.name == column; });
  return size_t(at - columns_->begin());
}

bool Row::has(std::string_view column) const { return place(column) < columns_->size(); }

double Row::operator[](std::string_view column) const {
  const size_t n = place(column);
  if (n == cells_.size() || (*columns_)[n].type == Column::Type::word)
    failure("a test of this kind of run has no numbers in a column \"{}\"", column);
  return cells_[n].number;
}

const std::string& Row::word(std::string_view column) const {
  const size_t n = place(column);
  if (n == cells_.size() || (*columns_)[n].type != Column::Type::word)
    failure("a test of this kind of run has no words in a column \"{}\"", column);
  return cells_[n].word;
}

void Row::set(std::string_view column, double x) { (*this)[column], cells_[place(column)] = x; }

std::string Row::text(size_t n) const {
  const Column& c = (*columns_)[n];
  if (c.type == Column::Type::word) return cells_[n].word;
  const double x = cells_[n].number;
  return c.type == Column::Type::whole ? fmt::format("{:.0f}", x) : fmt::format(fmt::runtime(c.format), x);
}

bool Row::same_key(const Row& other) const {
  for (size_t n = 0; n < cells_.size(); ++n)
    if ((*columns_)[n].key && !(cells_[n] == other.cells_[n])) return false;
  return true;
}

Results only(const Results& all, std::string_view column, const std::string& word) {
  Results some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some), [&](auto& row) { return row.word(column) == word; });
  return some;
}

Results mean_of(const std::vector<const Results*>& tables) {
  Results means;
  const double n = double(tables.size());
  for (const Row& first : *tables.front()) {
    std::vector<const Row*> alike;
    for (const Results* table : tables)
      if (const auto found = std::find_if(table->begin(), table->end(), [&](auto& r) { return r.same_key(first); });
          found != table->end())
        alike.push_back(&*found);
    if (alike.size() < tables.size()) continue;
    Row mean = first;
    for (const Column& c : mean.columns()) {
      if (c.key) continue;  // all columns of words are keys
      double sum = 0, least = first[c.name];
      for (const Row* row : alike) sum += (*row)[c.name] / n, least = std::min(least, (*row)[c.name]);
      mean.set(c.name, c.type == Column::Type::whole ? least : sum);
    }
    means.push_back(mean);
  }
  return means;
}

}  // namespace poslab
