package icewright.oracle;

import java.nio.file.*;
import java.util.*;

public final class Main {
  public static void main(String[] args) throws Exception {
    int rc;
    try {
      rc = run(args);
    } catch (Throwable e) {
      e.printStackTrace();
      rc = 2;
    }
    System.out.flush();
    System.exit(rc);
  }

  static int run(String... args) throws Exception {
    if (args.length == 0) {
      System.err.println("create write maintain dump check statistics partition-statistics lock-jdbc lock-zk fixture commit batch serve: see README.md");
      return 2;
    }
    Cli a = new Cli(Arrays.copyOfRange(args, 1, args.length));
    Object out;
    int rc = 0;
    switch (args[0]) {
      case "create": out = Tables.create(a); break;
      case "write": out = FlinkWrite.write(a); break;
      case "maintain": out = Maintain.run(a); break;
      case "dump": out = Dump.dump(a); break;
      case "check": {
        Map<String, Object> r = Check.check(a);
        out = r;
        rc = ((List<?>) r.get("problems")).isEmpty() || a.flag("soft") ? 0 : 1;
        break;
      }
      case "lock-jdbc": return Locks.jdbc(a);
      case "lock-zk": return Locks.zk(a);
      case "statistics": out = Stats.statistics(a); break;
      case "partition-statistics": out = Stats.partitionStatistics(a); break;
      case "fixture": out = Fixtures.make(a); break;
      case "sh": return new ProcessBuilder("bash", "-c", args[1]).inheritIO().start().waitFor();
      case "commit": out = Commit.commit(a); break;
      case "batch": return batch(a);
      case "serve": return serve();
      default: throw new IllegalArgumentException(args[0]);
    }
    Json.emit(out, a.get("out", null));
    return rc;
  }

  /** One command a line, all in this process; "#" starts a comment. Stops at the first that fails; with --keep-going runs all. */
  private static int batch(Cli a) throws Exception {
    boolean keepGoing = a.flag("keep-going");
    int worst = 0;
    for (String line : Files.readAllLines(Path.of(a.word(0, "FILE")))) {
      if (line.isBlank() || line.startsWith("#")) continue;
      long t0 = System.nanoTime();
      int rc;
      try {
        rc = run(Cli.split(line));
      } catch (Exception e) {
        if (!keepGoing) throw e;
        e.printStackTrace();
        rc = 2;
      }
      System.err.printf("[%d ms] %s%n", (System.nanoTime() - t0) / 1_000_000, line);
      worst = Math.max(worst, rc);
      if (rc != 0) { System.err.println("rc " + rc); if (!keepGoing) return rc; }
    }
    return worst;
  }

  /** Commands from stdin, one a line; after each a line "rc N" or "error TEXT" on stdout. Commands use --out. */
  private static int serve() throws Exception {
    var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in, java.nio.charset.StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null; ) {
      try {
        System.out.println("rc " + run(Cli.split(line)));
      } catch (Throwable e) {
        e.printStackTrace();
        System.out.println("error " + e.toString().replace('\n', ' '));
      }
      System.out.flush();
    }
    return 0;
  }
}
