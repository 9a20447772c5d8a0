import java.io.File;
import java.util.*;
import java.nio.ByteBuffer;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.*;
import org.apache.iceberg.catalog.*;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.data.parquet.*;
import org.apache.iceberg.hadoop.HadoopCatalog;
import org.apache.iceberg.io.*;
import org.apache.iceberg.parquet.Parquet;
import org.apache.iceberg.parquet.ParquetUtil;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Types;
import static org.apache.iceberg.types.Types.NestedField.*;

/** Commits files that gen.py wrote: Gen KIND WAREHOUSE NAME CODEC FORMAT_VERSION [args]. */
public class Gen {
  static final Schema SCHEMA = new Schema(
      Arrays.asList(required(1, "id", Types.LongType.get()), optional(2, "user_id", Types.LongType.get()),
      optional(3, "ts", Types.TimestampType.withZone()), optional(4, "day", Types.DateType.get()),
      optional(5, "country", Types.StringType.get()), optional(6, "event", Types.StringType.get()),
      optional(7, "session", Types.StringType.get()), optional(8, "url", Types.StringType.get()),
      optional(9, "amount", Types.DoubleType.get()), optional(10, "score", Types.DoubleType.get()),
      optional(11, "price", Types.DecimalType.of(12, 2)), optional(12, "qty", Types.IntegerType.get())),
      Collections.singleton(1));
  static Table t; static String loc;

  static File[] files(String suffix) {
    File[] fs = new File(loc + "/data").listFiles((d, n) -> n.endsWith(suffix) && !n.startsWith("."));
    Arrays.sort(fs); return fs;
  }
  static DataFile data(File f) {
    Metrics m = ParquetUtil.fileMetrics(t.io().newInputFile(f.getPath()), MetricsConfig.forTable(t));
    return DataFiles.builder(t.spec()).withPath(f.getPath()).withFormat(FileFormat.PARQUET).withFileSizeInBytes(f.length()).withMetrics(m).build();
  }
  static DeleteFile delete(File f, boolean eq) {
    MetricsConfig mc = eq ? MetricsConfig.forTable(t) : MetricsConfig.forPositionDelete();
    Metrics m = ParquetUtil.fileMetrics(t.io().newInputFile(f.getPath()), mc);
    FileMetadata.Builder b = FileMetadata.deleteFileBuilder(t.spec());
    b = eq ? b.ofEqualityDeletes(1) : b.ofPositionDeletes();
    return b.withPath(f.getPath()).withFormat(FileFormat.PARQUET).withFileSizeInBytes(f.length()).withMetrics(m).build();
  }
  /** The rows of a file, written again by Iceberg's own writer. */
  static DataFile rewritten(File f) throws Exception {
    File to = new File(f.getPath() + ".new");
    FileAppender<Record> w = Parquet.write(t.io().newOutputFile(to.getPath())).forTable(t).createWriterFunc(GenericParquetWriter::create).build();
    try (CloseableIterable<Record> rows = Parquet.read(t.io().newInputFile(f.getPath())).project(t.schema())
             .createReaderFunc(file -> GenericParquetReaders.buildReader(t.schema(), file)).build()) {
      w.addAll(rows);
    }
    w.close();
    new File(to.getParent(), "." + to.getName() + ".crc").delete();
    if (!to.renameTo(f)) throw new java.io.IOException("rename " + to);
    return DataFiles.builder(t.spec()).withPath(f.getPath()).withFormat(FileFormat.PARQUET).withFileSizeInBytes(f.length()).withMetrics(w.metrics())
        .withSplitOffsets(w.splitOffsets()).build();
  }
  static ByteBuffer bound(int id, Object v) { return Conversions.toByteBuffer(SCHEMA.findType(id), v); }
  /** Entry i of a table whose files nobody needs to read: random but reproducible sizes, bounds and counts, so that it compresses like a real one. */
  static DataFile fake(String path, long i) {
    SplittableRandom r = new SplittableRandom(i);
    Map<Integer, Long> sizes = new HashMap<>(), counts = new HashMap<>(), nulls = new HashMap<>();
    Map<Integer, ByteBuffer> lo = new HashMap<>(), hi = new HashMap<>();
    long rows = 9_000 + r.nextInt(2_000);
    for (int c = 1; c <= 12; c++) { sizes.put(c, 20_000L + r.nextInt(80_000)); counts.put(c, rows); nulls.put(c, c >= 9 ? (long) r.nextInt(700) : 0L); }
    long base = 1_700_000_000_000_000L + i * 600_000_000L + r.nextInt(300_000_000);
    long id = r.nextLong(1L << 40);
    lo.put(1, bound(1, id)); hi.put(1, bound(1, id + rows)); lo.put(2, bound(2, (long) r.nextInt(1_000))); hi.put(2, bound(2, 999_000L + r.nextInt(1_000)));
    lo.put(3, bound(3, base)); hi.put(3, bound(3, base + 3_000_000_000L + r.nextInt(600_000_000)));
    lo.put(4, bound(4, (int) (base / 86_400_000_000L))); hi.put(4, bound(4, (int) (base / 86_400_000_000L) + 1));
    lo.put(5, bound(5, "A" + (char) ('A' + r.nextInt(26)))); hi.put(5, bound(5, "Z" + (char) ('A' + r.nextInt(26)))); lo.put(6, bound(6, "buy")); hi.put(6, bound(6, "view"));
    lo.put(7, bound(7, String.format("000%013x", r.nextLong(1L << 52)))); hi.put(7, bound(7, String.format("fff%013x", r.nextLong(1L << 52))));
    lo.put(8, bound(8, "https://shop.exa")); hi.put(8, bound(8, "https://shop.exb"));
    for (int c = 9; c <= 10; c++) { lo.put(c, bound(c, -r.nextDouble() * 100)); hi.put(c, bound(c, 200 + r.nextDouble() * 100)); }
    lo.put(11, bound(11, new java.math.BigDecimal(java.math.BigInteger.valueOf(r.nextInt(100)), 2))); hi.put(11, bound(11, new java.math.BigDecimal(java.math.BigInteger.valueOf(900_000 + r.nextInt(99_999)), 2)));
    lo.put(12, bound(12, 1 + r.nextInt(3))); hi.put(12, bound(12, 17 + r.nextInt(3)));
    Metrics m = new Metrics(rows, sizes, counts, nulls, null, lo, hi);
    return DataFiles.builder(t.spec()).withPath(path).withFormat(FileFormat.PARQUET).withFileSizeInBytes(400_000 + r.nextInt(200_000)).withMetrics(m).withSplitOffsets(List.of(4L)).build();
  }

  static Schema wide(int columns) {
    List<Types.NestedField> fields = new ArrayList<>();
    for (int c = 0; c < columns; c++) fields.add(optional(c + 1, "c" + c, c % 4 < 2 ? Types.LongType.get() : c % 4 == 2 ? Types.DoubleType.get() : Types.StringType.get()));
    return new Schema(fields);
  }

  public static void main(String[] a) throws Exception {
    String kind = a[0], wh = a[1], name = a[2];
    HadoopCatalog cat = new HadoopCatalog(new Configuration(), wh);
    loc = wh + "/ns/" + name;
    Map<String, String> props = new HashMap<>(Map.of("format-version", a[4], "write.parquet.compression-codec", a[3],
        "write.target-file-size-bytes", "268435456"));
    if (kind.equals("many-snapshots")) { props.put("write.metadata.delete-after-commit.enabled", "true"); props.put("write.metadata.previous-versions-max", "20"); }
    Schema schema = kind.equals("wide") ? wide(Integer.parseInt(a[5])) : SCHEMA;
    t = cat.createTable(TableIdentifier.of("ns", name), schema, PartitionSpec.unpartitioned(), loc, props);
    switch (kind) {
      case "rewrite-append": { AppendFiles ap = t.newFastAppend(); for (File f : files(".parquet")) ap.appendFile(rewritten(f)); ap.commit(); break; }
      case "append": case "wide": { AppendFiles ap = t.newFastAppend(); for (File f : files(".parquet")) ap.appendFile(data(f)); ap.commit(); break; }
      case "eq-deletes": {
        AppendFiles ap = t.newFastAppend(); for (File f : files("-base.parquet")) ap.appendFile(data(f)); ap.commit();
        File[] d = files("-upsert-data.parquet"), e = files("-upsert-eqdel.parquet");
        for (int i = 0; i < d.length; i++) t.newRowDelta().addRows(data(d[i])).addDeletes(delete(e[i], true)).commit();
        break; }
      case "staged-eq-deletes": {
        AppendFiles ap = t.newFastAppend(); for (File f : files("-base.parquet")) ap.appendFile(data(f)); ap.commit();
        t.manageSnapshots().createBranch("staging", t.currentSnapshot().snapshotId()).commit();
        File[] d = files("-upsert-data.parquet"), e = files("-upsert-eqdel.parquet");
        for (int i = 0; i < d.length; i++) t.newRowDelta().addRows(data(d[i])).addDeletes(delete(e[i], true)).toBranch("staging").commit();
        break; }
      case "pos-deletes": {
        boolean java = a.length > 5 && a[5].equals("java");
        AppendFiles ap = t.newFastAppend(); for (File f : files("-base.parquet")) ap.appendFile(java ? rewritten(f) : data(f)); ap.commit();
        for (File f : files("-posdel.parquet")) t.newRowDelta().addDeletes(delete(f, false)).commit();
        break; }
      case "many-entries": {
        long n = Long.parseLong(a[5]), per = Long.parseLong(a[6]); AppendFiles ap = t.newFastAppend();
        for (long m = 0; m * per < n; m++) {
          ManifestWriter<DataFile> w = ManifestFiles.write(2, t.spec(), t.io().newOutputFile(loc + "/metadata/gen-m" + m + ".avro"), null);
          for (long i = m * per; i < Math.min(n, (m + 1) * per); i++) w.add(fake(String.format("%s/data/%05d-%d-%s-%05d.parquet", loc, i % 8, i, new UUID(new SplittableRandom(i).nextLong(), ~i * 0x9E3779B97F4A7C15L), i % 100), i));
          w.close(); ap.appendManifest(w.toManifestFile());
        }
        ap.commit(); break; }
      case "many-snapshots": {
        int n = Integer.parseInt(a[5]); DataFile[] all = new DataFile[n];
        for (int i = 0; i < n; i++) {
          File f = new File(String.format("%s/data/%05d.parquet", loc, i));
          all[i] = DataFiles.builder(t.spec()).withPath(f.getPath()).withFormat(FileFormat.PARQUET).withFileSizeInBytes(f.length()).withRecordCount(10).build();
          if (i < 50) t.newAppend().appendFile(all[i]).commit();   // then a rolling window: 50 live files, every commit drops the oldest
          else t.newOverwrite().addFile(all[i]).deleteFile(all[i - 50]).commit();
        }
        break; }
      case "orphans": {
        int n = Integer.parseInt(a[5]); AppendFiles ap = t.newAppend();
        for (int i = 0; i < n; i++) { String p = String.format("%s/data/p=%d/live-%06d.parquet", loc, i % 100, i);
          ap.appendFile(DataFiles.builder(t.spec()).withPath(p).withFormat(FileFormat.PARQUET).withFileSizeInBytes(8).withRecordCount(1).build()); }
        ap.commit(); break; }
    }
  }
}
