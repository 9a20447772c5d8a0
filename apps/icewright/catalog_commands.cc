#include <fmt/format.h>

#include <ostream>

#include "codec/json.h"
#include "icewright/command.h"
#include "icewright/schema_text.h"
#include "table/metadata.h"

namespace icewright::cli {
namespace {

std::string TransformText(const Schema& schema, const Transform& transform, FieldId source) {
  const std::string column(schema.NameOf(source));
  if (transform.kind() == Transform::Kind::kIdentity) return column;
  if (transform.text().ends_with(']')) {
    const std::size_t open = transform.text().find('[');
    return fmt::format("{}({}, {})", transform.text().substr(0, open),
                       transform.text().substr(open + 1, transform.text().size() - open - 2),
                       column);
  }
  return fmt::format("{}({})", transform.text(), column);
}

std::string SpecText(const Schema& schema, const PartitionSpec& spec) {
  std::string text;
  for (const PartitionField& field : spec.fields) {
    text += (text.empty() ? "" : ", ") + TransformText(schema, field.transform, field.source_id());
  }
  return text.empty() ? "unpartitioned" : text;
}

std::string OrderText(const Schema& schema, const SortOrder& order) {
  std::string text;
  for (const SortField& field : order.fields) {
    text += fmt::format("{}{} {} nulls {}", text.empty() ? "" : ", ",
                        TransformText(schema, field.transform, field.source_id()),
                        field.direction == SortField::Direction::kAsc ? "asc" : "desc",
                        field.nulls == SortField::Nulls::kFirst ? "first" : "last");
  }
  return text.empty() ? "unsorted" : text;
}

class TablesCommand final : public Command {
 public:
  std::string name() const override { return "tables"; }
  std::string help() const override { return "List the tables of a catalog or a namespace"; }
  void Define(CLI::App& app) override {
    app.add_option("namespace", namespace_, "only this namespace and those below it");
  }

  Result<ExitCode> Execute(Session& session) override {
    IW_ASSIGN(const std::vector<std::string> names, session.CatalogNames());
    Json rows = Json::array();
    for (const std::string& name : names) {
      IW_ASSIGN(const auto catalog, session.OpenCatalogNamed(name));
      Namespace start;
      std::string_view rest = namespace_;
      while (!rest.empty()) {
        const std::size_t dot = rest.find('.');
        start.emplace_back(rest.substr(0, dot));
        rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
      }
      IW_TRY(List(session, *catalog, start, rows));
    }
    if (session.json()) {
      PrintJson(session.out(), rows);
      return ExitCode::kOk;
    }
    TextTable text({"catalog", "namespace", "table"});
    for (const Json& row : rows) {
      text.AddRow({CellText(row["catalog"]), CellText(row["namespace"]), CellText(row["table"])});
    }
    text.Print(session.out());
    return ExitCode::kOk;
  }

 private:
  Status List(Session& session, Catalog& catalog, const Namespace& ns, Json& rows) {
    IW_TRY(session.run().Check());
    if (!ns.empty()) {
      IW_ASSIGN(const auto tables, catalog.ListTables(session.run(), ns));
      for (const TableIdentifier& id : tables) {
        rows.push_back(
            {{"catalog", catalog.name()}, {"namespace", ToString(id.ns)}, {"table", id.name}});
      }
    }
    IW_ASSIGN(const auto children, catalog.ListNamespaces(session.run(), ns));
    for (const Namespace& child : children) IW_TRY(List(session, catalog, child, rows));
    return {};
  }

  std::string namespace_;
};

class ShowCommand final : public Command {
 public:
  std::string name() const override { return "show"; }
  std::string help() const override { return "Describe a table"; }
  void Define(CLI::App& app) override {
    app.add_option("table", table_, "catalog.namespace.table, or a path")->required();
  }

  Result<ExitCode> Execute(Session& session) override {
    IW_ASSIGN(const Table table, session.LoadTable(table_));
    const TableMetadata& metadata = table.metadata();
    const Schema& schema = metadata.schema();
    Json json = {{"table", table.name()},
                 {"location", metadata.location.text()},
                 {"metadata_location", table.metadata_location().text()},
                 {"format_version", metadata.format_version},
                 {"uuid", metadata.table_uuid},
                 {"read_only", table.operations().read_only_reason()},
                 {"schema", schema.ToJson()},
                 {"partition_spec", SpecText(schema, metadata.default_spec())},
                 {"sort_order", OrderText(schema, metadata.default_sort_order())},
                 {"snapshots", metadata.snapshots.size()}};
    json["current_snapshot_id"] = nullptr;
    json["summary"] = Json::object();
    if (const Snapshot* head = metadata.current_snapshot()) {
      json["current_snapshot_id"] = Raw(head->id);
      for (const auto& [key, value] : head->summary) {
        if (key.starts_with("total-")) json["summary"][key] = value;
      }
    }
    json["refs"] = Json::object();
    for (const auto& [name, ref] : metadata.refs) json["refs"][name] = Raw(ref.snapshot_id);
    json["properties"] = Json::object();
    for (const auto& [key, value] : metadata.properties) json["properties"][key] = value;
    if (session.json()) {
      PrintJson(session.out(), json);
    } else {
      PrintText(session.out(), json, schema);
    }
    return ExitCode::kOk;
  }

 private:
  static void PrintText(std::ostream& out, const Json& json, const Schema& schema) {
    for (const auto& [key, value] : json.items()) {
      if (value.is_object() || (value.is_string() && value.get<std::string>().empty())) continue;
      out << fmt::format("{:<20} {}\n", key, CellText(value));
    }
    for (const char* section : {"refs", "summary", "properties"}) {
      for (const auto& [key, value] : json[section].items()) {
        out << fmt::format("{:<20} {} = {}\n", section, key, CellText(value));
      }
    }
    TextTable columns({"id", "column", "type", "required"});
    for (const Field& field : schema.fields()) {
      columns.AddRow(
          {ToString(field.id), field.name, field.type.ToString(), field.required ? "yes" : "no"});
    }
    out << '\n';
    columns.Print(out);
  }

  std::string table_;
};

class CreateCommand final : public Command {
 public:
  std::string name() const override { return "create"; }
  std::string help() const override { return "Create an empty table"; }
  void Define(CLI::App& app) override {
    app.add_option("table", table_, "catalog.namespace.table")->required();
    app.add_option("--schema", schema_,
                   "'id:long!,name:string,ts:timestamptz' (! is required), or JSON")
        ->required();
    app.add_option("--partition", partition_, "'bucket(4, id), day(ts), name'");
    app.add_option("--sort", sort_, "'id asc, ts desc nulls last'");
    app.add_option("--identifier", identifier_, "identifier columns, separated by commas")
        ->delimiter(',');
    app.add_option("--property", properties_, "KEY=VALUE; may be given several times");
    app.add_option("--format-version", format_version_, "1, 2 or 3; default: 2")
        ->check(CLI::Range(1, kMaxFormatVersion));
    app.add_option("--location", location_, "folder of the table; default: the catalog's choice");
  }

  Result<ExitCode> Execute(Session& session) override {
    IW_ASSIGN(const ResolvedName resolved, session.Resolve(table_));
    CreateTableRequest request;
    IW_ASSIGN(request.schema, ParseSchemaText(schema_, identifier_));
    IW_ASSIGN(request.spec, ParsePartitionText(request.schema, partition_));
    if (!sort_.empty()) {
      IW_ASSIGN(request.sort_order, SortOrder::Parse(request.schema, sort_));
      request.sort_order.id = SortOrderId{1};
    }
    for (const std::string& property : properties_) {
      const std::size_t equals = property.find('=');
      if (equals == std::string::npos || equals == 0) {
        return Error(Code::kInvalidArgument,
                     fmt::format("--property '{}' is not KEY=VALUE", property));
      }
      request.properties[property.substr(0, equals)] = property.substr(equals + 1);
    }
    if (format_version_) request.properties["format-version"] = std::to_string(*format_version_);
    if (!location_.empty()) request.location = Location(location_);
    if (!resolved.id.ns.empty()) {
      const Status made = resolved.catalog->CreateNamespace(session.run(), resolved.id.ns, {});
      if (!made && made.error().code() != Code::kAlreadyExists) return made.error();
    }
    IW_ASSIGN(const Table table,
              resolved.catalog->CreateTable(session.run(), resolved.id, request));
    session.out() << (session.json()
                          ? DumpJson({{"table", table.name()},
                                      {"metadata_location", table.metadata_location().text()}})
                          : fmt::format("created {} at {}", table.name(),
                                        table.metadata().location.text()))
                  << '\n';
    return ExitCode::kOk;
  }

 private:
  std::string table_, schema_, partition_, sort_, location_;
  std::vector<std::string> identifier_, properties_;
  std::optional<int> format_version_;
};

class DropCommand final : public Command {
 public:
  std::string name() const override { return "drop"; }
  std::string help() const override { return "Drop a table"; }
  void Define(CLI::App& app) override {
    app.add_option("table", table_, "catalog.namespace.table")->required();
    app.add_flag("--purge", purge_, "delete the table's files, too");
  }

  Result<ExitCode> Execute(Session& session) override {
    IW_ASSIGN(const ResolvedName resolved, session.Resolve(table_));
    IW_TRY(resolved.catalog->DropTable(session.run(), resolved.id, {.purge = purge_}));
    session.out() << (session.json() ? DumpJson({{"dropped", table_}}) : "dropped " + table_)
                  << '\n';
    return ExitCode::kOk;
  }

 private:
  std::string table_;
  bool purge_ = false;
};

class RegisterCommand final : public Command {
 public:
  std::string name() const override { return "register"; }
  std::string help() const override { return "Give an existing table a name in a catalog"; }
  void Define(CLI::App& app) override {
    app.add_option("table", table_, "catalog.namespace.table")->required();
    app.add_option("metadata", metadata_,
                   "its metadata file, or its folder (the newest file counts)")
        ->required();
  }

  Result<ExitCode> Execute(Session& session) override {
    IW_ASSIGN(const ResolvedName resolved, session.Resolve(table_));
    IW_ASSIGN(const Table found, session.LoadTable(metadata_));
    const Status made = resolved.catalog->CreateNamespace(session.run(), resolved.id.ns, {});
    if (!made && made.error().code() != Code::kAlreadyExists) return made.error();
    IW_ASSIGN(const Table table, resolved.catalog->RegisterTable(session.run(), resolved.id,
                                                                 found.metadata_location()));
    session.out() << (session.json()
                          ? DumpJson({{"table", table.name()},
                                      {"metadata_location", table.metadata_location().text()}})
                          : fmt::format("registered {} with {}", table.name(),
                                        table.metadata_location().text()))
                  << '\n';
    return ExitCode::kOk;
  }

 private:
  std::string table_, metadata_;
};

}  // namespace

void AddCatalogCommands(Commands& commands) {
  commands.push_back(std::make_unique<TablesCommand>());
  commands.push_back(std::make_unique<ShowCommand>());
  commands.push_back(std::make_unique<CreateCommand>());
  commands.push_back(std::make_unique<DropCommand>());
  commands.push_back(std::make_unique<RegisterCommand>());
}

}  // namespace icewright::cli
