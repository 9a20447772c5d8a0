package icewright.oracle;

import java.util.*;
import org.apache.iceberg.*;
import org.apache.iceberg.data.*;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.deletes.PositionDeleteIndex;
import org.apache.iceberg.types.*;
import org.apache.iceberg.util.ContentFileUtil;
import org.apache.iceberg.util.DateTimeUtil;

/**
 * One small commit, spelled out: commit WAREHOUSE NAME CHANGE...
 *
 * <p>{@code F1=1,x;2,~} a data file called F1 with these rows (~ is null; F1.orc for another format); {@code eq:s=x;y} and
 * {@code eq:id,c=1,~} an equality delete; {@code pos:F1=0,2} a position delete; {@code dv:F1=0,2} a deletion vector, merged with the one there;
 * {@code drop:F1} removes the data file; {@code column:s:string} adds a column, as a commit of its own before.
 */
final class Commit {
  private final Table t;
  private final JavaWrites w;
  private final String stamp; // makes the names of delete files unique
  private final Map<String, DataFile> added = new LinkedHashMap<>();

  private Commit(Table t) {
    this.t = t;
    this.w = new JavaWrites(t);
    this.stamp = "" + ((HasTableOperations) t).operations().current().lastUpdatedMillis();
  }

  static Object commit(Cli a) throws Exception {
    Table t = Tables.load(a);
    List<String> changes = a.words.subList(2, a.words.size());
    for (String c : changes) if (c.startsWith("column:")) t.updateSchema().addColumn(c.split(":")[1], Types.fromPrimitiveString(c.split(":")[2])).commit();
    return new Commit(t).run(changes.stream().filter(c -> !c.startsWith("column:")).toList());
  }

  private Object run(List<String> changes) throws Exception {
    if (changes.isEmpty()) return Json.obj("table", t.name());
    RowDelta d = t.newRowDelta();
    if (t.currentSnapshot() != null) d.validateFromSnapshot(t.currentSnapshot().snapshotId());
    DeleteFiles drop = null;
    for (String c : changes) {
      int eq = c.indexOf('=');
      String what = c.substring(0, eq < 0 ? c.length() : eq), values = eq < 0 ? "" : c.substring(eq + 1);
      if (what.startsWith("drop:")) {
        drop = (drop == null ? t.newDelete() : drop).deleteFile(file(what.substring(5)));
      } else if (what.startsWith("eq")) {
        Schema key = t.schema().select(Arrays.asList(what.substring(what.indexOf(':') + 1).split(",")));
        d.addDeletes(w.equality(t.spec(), null, key, rows(key, values), format(what.substring(0, what.indexOf(':'))), "eq" + stamp));
      } else if (what.startsWith("pos")) {
        DataFile f = file(what.substring(what.indexOf(':') + 1));
        List<Map.Entry<String, Long>> at = new ArrayList<>();
        for (String p : values.split(",")) at.add(Map.entry(f.location(), Long.parseLong(p)));
        d.addDeletes(w.positions(t.spec(), f.partition(), at, format(what.substring(0, what.indexOf(':'))), "pos" + stamp));
      } else if (what.startsWith("dv:")) {
        List<Long> at = new ArrayList<>();
        for (String p : values.split(",")) at.add(Long.parseLong(p));
        var result = w.dvs(Map.of(file(what.substring(3)), at), this::vector, "dv" + stamp);
        result.deleteFiles().forEach(d::addDeletes);
        result.rewrittenDeleteFiles().forEach(d::removeDeletes);
      } else {
        String label = what.contains(".") ? what.substring(0, what.indexOf('.')) : what;
        for (DataFile f : w.data(rows(t.schema(), values), t.schema(), t.spec(), format(what), null, label)) { d.addRows(f); added.put(label, f); }
      }
    }
    if (drop != null) drop.commit(); else d.commit();
    Map<String, Object> paths = new LinkedHashMap<>();
    added.forEach((label, f) -> paths.put(label, Tables.rel(t, f.location())));
    return Json.obj("table", t.name(), "files", paths);
  }

  private static FileFormat format(String name) {
    return name.contains(".") ? FileFormat.fromString(name.substring(name.indexOf('.') + 1)) : FileFormat.PARQUET;
  }

  private DataFile file(String label) throws Exception {
    if (added.containsKey(label)) return added.get(label);
    for (ManifestFile m : t.currentSnapshot().dataManifests(t.io()))
      try (ManifestReader<DataFile> r = ManifestFiles.read(m, t.io(), t.specs())) {
        for (DataFile f : r) if (f.location().contains("-" + label + "-")) return f.copy();
      }
    throw new IllegalArgumentException("no live data file " + label);
  }

  private PositionDeleteIndex vector(String path) {
    BaseDeleteLoader loader = new BaseDeleteLoader(x -> t.io().newInputFile(x.location()));
    if (t.currentSnapshot() == null) return null;
    for (ManifestFile m : t.currentSnapshot().deleteManifests(t.io()))
      for (DeleteFile f : ManifestFiles.readDeleteManifest(m, t.io(), t.specs()))
        if (ContentFileUtil.isDV(f) && path.equals(f.referencedDataFile())) return loader.loadPositionDeletes(List.of(f.copy()), path);
    return null;
  }

  private static List<Record> rows(Schema s, String text) {
    List<Record> out = new ArrayList<>();
    for (String line : text.split(";")) {
      String[] values = line.split(",", -1);
      Record r = GenericRecord.create(s);
      for (int i = 0; i < s.columns().size(); i++)
        if (!values[i].equals("~")) r.set(i, value(s.columns().get(i).type(), values[i]));
      out.add(r);
    }
    return out;
  }

  private static Object value(Type type, String text) {
    if (type.typeId() != Type.TypeID.TIMESTAMP) return Conversions.fromPartitionString(type, text);
    long micros = (Long) org.apache.iceberg.expressions.Literal.of(text).to(type).value();
    return ((Types.TimestampType) type).shouldAdjustToUTC() ? DateTimeUtil.timestamptzFromMicros(micros) : DateTimeUtil.timestampFromMicros(micros);
  }
}
