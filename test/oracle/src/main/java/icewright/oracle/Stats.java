package icewright.oracle;

import java.nio.ByteBuffer;
import java.util.*;
import org.apache.datasketches.memory.Memory;
import org.apache.datasketches.theta.CompactSketch;
import org.apache.iceberg.*;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.puffin.*;
import org.apache.iceberg.util.Pair;

/** Reads the statistics files of a table, and makes partition statistics as Java does. */
final class Stats {
  /** Of each statistics file the blobs, with what their sketches say. */
  static Object statistics(Cli a) throws Exception {
    Table t = Tables.load(a);
    List<Object> files = new ArrayList<>();
    for (StatisticsFile s : t.statisticsFiles()) {
      List<Object> blobs = new ArrayList<>();
      try (PuffinReader reader = Puffin.read(t.io().newInputFile(s.path())).withFileSize(s.fileSizeInBytes()).withFooterSize(s.fileFooterSizeInBytes()).build()) {
        for (Pair<org.apache.iceberg.puffin.BlobMetadata, ByteBuffer> p : reader.readAll(reader.fileMetadata().blobs())) {
          byte[] bytes = new byte[p.second().remaining()];
          p.second().get(bytes);
          Map<String, Object> blob = Json.obj("type", p.first().type(), "fields", p.first().inputFields(), "snapshot_id", p.first().snapshotId(),
              "sequence_number", p.first().sequenceNumber(), "properties", p.first().properties());
          if (p.first().type().equals(StandardBlobTypes.APACHE_DATASKETCHES_THETA_V1))
            blob.put("estimate", (long) CompactSketch.wrap(Memory.wrap(bytes)).getEstimate());
          blobs.add(blob);
        }
      }
      List<Object> named = new ArrayList<>();
      for (org.apache.iceberg.BlobMetadata b : s.blobMetadata()) named.add(Json.obj("type", b.type(), "fields", b.fields(), "properties", b.properties()));
      files.add(Json.obj("snapshot_id", s.snapshotId(), "path", s.path(), "blobs", blobs, "named", named));
    }
    return Json.obj("files", files);
  }

  /** The partition statistics of the current snapshot: read from the table's file; with --compute made by Java and not registered, with --set registered. */
  static Object partitionStatistics(Cli a) throws Exception {
    Table t = Tables.load(a);
    PartitionStatisticsFile file = null;
    if (a.flag("compute") || a.flag("set")) {
      file = PartitionStatsHandler.computeAndWriteStatsFile(t);
      if (a.flag("set")) t.updatePartitionStatistics().setPartitionStatistics(file).commit();
    } else {
      for (PartitionStatisticsFile s : t.partitionStatisticsFiles()) if (s.snapshotId() == t.currentSnapshot().snapshotId()) file = s;
    }
    if (file == null) return Json.obj("rows", null);
    Schema schema = PartitionStatsHandler.schema(Partitioning.partitionType(t), TableUtil.formatVersion(t));
    List<Object> rows = new ArrayList<>();
    try (CloseableIterable<PartitionStats> stats = PartitionStatsHandler.readPartitionStatsFile(schema, t.io().newInputFile(file.path()))) {
      for (PartitionStats s : stats) {
        List<Object> partition = new ArrayList<>();
        for (int i = 0; i < s.partition().size(); ++i) partition.add(text(s.partition().get(i, Object.class)));
        rows.add(Json.obj("partition", partition, "spec_id", s.specId(), "data_record_count", s.dataRecordCount(), "data_file_count", s.dataFileCount(),
            "total_data_file_size_in_bytes", s.totalDataFileSizeInBytes(), "position_delete_record_count", s.positionDeleteRecordCount(),
            "position_delete_file_count", s.positionDeleteFileCount(), "equality_delete_record_count", s.equalityDeleteRecordCount(),
            "equality_delete_file_count", s.equalityDeleteFileCount(), "dv_count", s.dvCount(), "total_record_count", s.totalRecords(),
            "last_updated_at", s.lastUpdatedAt(), "last_updated_snapshot_id", s.lastUpdatedSnapshotId()));
      }
    }
    return Json.obj("path", file.path(), "snapshot_id", file.snapshotId(), "size", file.fileSizeInBytes(), "schema", schema.toString(), "rows", rows);
  }

  private static String text(Object value) {
    if (value == null) return null;
    if (value instanceof ByteBuffer b) {
      StringBuilder out = new StringBuilder("0x");
      for (int i = b.position(); i < b.limit(); ++i) out.append(String.format("%02x", b.get(i)));
      return out.toString();
    }
    return value.toString();
  }
}
