import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.zip.CRC32;
import org.apache.datasketches.common.Family;
import org.apache.datasketches.theta.*;

/**
 * Prints ../theta_sketches.txt: what DataSketches makes of known values. Run in test/golden/make with
 * java -cp '../../../.cache/oracle/dist/lib/*' ThetaSketches.java > ../theta_sketches.txt
 * Line: how, kind of values, their number, estimate, bytes, CRC-32 of the bytes, first 64 bytes.
 */
public final class ThetaSketches {
  static byte[] value(String kind, int i) {
    switch (kind) {
      case "long": return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(i * 7L - 1000).array();
      case "int": return ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(i).array();
      case "text": return ("value-" + i).getBytes(StandardCharsets.UTF_8);
      case "repeat": return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(i % 10).array();
      case "length": {  // i bytes; the first is none at all
        byte[] out = new byte[i];
        for (int k = 0; k < i; ++k) out[k] = (byte) (k * 37 + 200);
        return out;
      }
      default: throw new IllegalArgumentException(kind);
    }
  }

  static CompactSketch make(String how, String kind, int n) {
    if (how.equals("union")) {  // of four sketches, each with every fourth value and some of the others'
      Union union = SetOperation.builder().buildUnion();
      for (int part = 0; part < 4; ++part) {
        UpdateSketch sketch = UpdateSketch.builder().build();
        for (int i = 0; i < n; ++i) if (i % 4 == part || i % 9 == part) sketch.update(ByteBuffer.wrap(value(kind, i)));
        union.union(sketch.compact());
      }
      return union.getResult();
    }
    UpdateSketch sketch = UpdateSketch.builder().setFamily(how.equals("alpha") ? Family.ALPHA : Family.QUICKSELECT).build();
    for (int i = 0; i < n; ++i) sketch.update(ByteBuffer.wrap(value(kind, i)));
    return sketch.rebuild().compact();
  }

  static void print(String how, String kind, int n) {
    CompactSketch sketch = make(how, kind, n);
    byte[] bytes = sketch.toByteArray();
    CRC32 crc = new CRC32();
    crc.update(bytes);
    System.out.printf("%s %s %d %d %d %08x %s%n", how, kind, n, (long) sketch.getEstimate(), bytes.length, crc.getValue(),
        HexFormat.of().formatHex(bytes, 0, Math.min(64, bytes.length)));
  }

  public static void main(String[] args) {
    for (int n : new int[] {0, 1, 2, 3, 100, 4095, 4096}) print("alpha", "long", n);
    for (String kind : new String[] {"long", "int", "text"}) {
      for (int n : new int[] {1, 100, 4096, 4097, 5000, 7679, 7680, 7681, 8192, 20000, 200000}) print("quickselect", kind, n);
    }
    for (int n = 0; n <= 34; ++n) print("quickselect", "length", n);
    print("quickselect", "repeat", 10000);
    for (int n : new int[] {0, 1, 100, 5000, 20000, 200000}) print("union", "long", n);
  }
}
