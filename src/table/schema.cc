#include "table/schema.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "table/literal.h"

namespace icewright {
namespace {

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

std::string Join(std::string_view prefix, std::string_view name) {
  std::string out(prefix);
  if (!out.empty()) out += '.';
  out += name;
  return out;
}

bool SameDefault(const std::optional<Literal>& a, const std::optional<Literal>& b) {
  return a.has_value() == b.has_value() && (!a || SameValue(*a, *b));
}

bool SameFields(const std::vector<Field>& a, const std::vector<Field>& b);

bool SameField(const Field& a, const Field& b) {
  return a.id == b.id && a.name == b.name && a.required == b.required && a.doc == b.doc &&
         a.type.id() == b.type.id() && SameDefault(a.initial_default, b.initial_default) &&
         SameDefault(a.write_default, b.write_default) &&
         (a.type.is_nested() ? SameFields(a.type.fields(), b.type.fields()) : a.type == b.type);
}

bool SameFields(const std::vector<Field>& a, const std::vector<Field>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameField);
}

/// All lookups of a schema, built when the first is asked for: most schemas of a long history are
/// never looked into.
struct Index {
  struct Entry {
    const Field* field;
    const Field* top_level;
    std::string name;
  };
  std::unordered_map<std::int32_t, Entry> by_id;
  std::unordered_map<std::string, const Field*> by_name;
  std::unordered_map<std::string, const Field*> by_lower_name;  // null: ambiguous
  int highest_field_id = 0;

  explicit Index(const std::vector<Field>& fields) {
    for (const Field& field : fields) Add(field, &field, "", "");
    // A full name wins over a short one, as in Java.
    for (auto& [name, field] : short_names) by_name.emplace(std::move(name), field);
    short_names.clear();
    for (const auto& [name, field] : by_name) {
      const auto [it, fresh] = by_lower_name.emplace(Lower(name), field);
      if (!fresh && it->second != field) it->second = nullptr;
    }
  }

 private:
  void Add(const Field& field, const Field* top_level, std::string_view prefix,
           std::string_view short_prefix) {
    const std::string name = Join(prefix, field.name);
    const std::string short_name = Join(short_prefix, field.name);
    by_id.emplace(Raw(field.id), Entry{&field, top_level, name});
    by_name.emplace(name, &field);
    if (short_name != name) short_names.emplace_back(short_name, &field);
    highest_field_id = std::max(highest_field_id, Raw(field.id));

    for (const Field& child : field.type.fields()) {
      if (field.type.id() != TypeId::kStruct && child.type.id() == TypeId::kStruct &&
          child.name != "key") {
        AddStructItem(child, top_level, name, short_name);
      } else {
        Add(child, top_level, name, short_name);
      }
    }
  }

  /// "l.a" stands for "l.element.a", and "m.a" for "m.value.a".
  void AddStructItem(const Field& item, const Field* top_level, std::string_view prefix,
                     std::string_view short_prefix) {
    const std::string name = Join(prefix, item.name);
    by_id.emplace(Raw(item.id), Entry{&item, top_level, name});
    by_name.emplace(name, &item);
    highest_field_id = std::max(highest_field_id, Raw(item.id));
    for (const Field& field : item.type.fields()) Add(field, top_level, name, short_prefix);
  }

  std::vector<std::pair<std::string, const Field*>> short_names;
};

}  // namespace

struct Schema::Rep {
  Type as_struct;
  std::optional<SchemaId> id;
  std::vector<FieldId> identifier_field_ids;
  std::string unknown_fields;

  const Index& index() const {
    std::call_once(once, [this] { lazy_index = std::make_unique<Index>(as_struct.fields()); });
    return *lazy_index;
  }

  mutable std::once_flag once;
  mutable std::unique_ptr<const Index> lazy_index;
};

Schema::Schema(std::vector<Field> fields, std::optional<SchemaId> id,
               std::vector<FieldId> identifier_field_ids, std::string unknown_fields) {
  auto rep = std::make_shared<Rep>();
  rep->as_struct = Type::Struct(std::move(fields));
  rep->id = id;
  rep->identifier_field_ids = std::move(identifier_field_ids);
  rep->unknown_fields = std::move(unknown_fields);
  rep_ = std::move(rep);
}

std::optional<SchemaId> Schema::id() const { return rep_->id; }
const std::vector<Field>& Schema::fields() const { return rep_->as_struct.fields(); }
Type Schema::AsStruct() const { return rep_->as_struct; }
const std::vector<FieldId>& Schema::identifier_field_ids() const {
  return rep_->identifier_field_ids;
}
const std::string& Schema::unknown_fields() const { return rep_->unknown_fields; }

const Field* Schema::Find(FieldId id) const {
  const auto& by_id = rep_->index().by_id;
  const auto it = by_id.find(Raw(id));
  return it == by_id.end() ? nullptr : it->second.field;
}

const Field* Schema::Find(std::string_view name, bool case_sensitive) const {
  const Index& index = rep_->index();
  const auto& by_name = case_sensitive ? index.by_name : index.by_lower_name;
  const auto it = by_name.find(case_sensitive ? std::string(name) : Lower(name));
  return it == by_name.end() ? nullptr : it->second;
}

std::string_view Schema::NameOf(FieldId id) const {
  const auto& by_id = rep_->index().by_id;
  const auto it = by_id.find(Raw(id));
  return it == by_id.end() ? std::string_view() : it->second.name;
}

const Field* Schema::TopLevelOf(FieldId id) const {
  const auto& by_id = rep_->index().by_id;
  const auto it = by_id.find(Raw(id));
  return it == by_id.end() ? nullptr : it->second.top_level;
}

int Schema::highest_field_id() const { return rep_->index().highest_field_id; }

bool Schema::SameAs(const Schema& other) const {
  if (rep_ == other.rep_) return true;
  std::vector<FieldId> mine = identifier_field_ids();
  std::vector<FieldId> theirs = other.identifier_field_ids();
  std::sort(mine.begin(), mine.end());
  std::sort(theirs.begin(), theirs.end());
  return mine == theirs && SameFields(fields(), other.fields());
}

}  // namespace icewright
