#!/usr/bin/env bash
# run_fuzzers.sh BUILD SECONDS: every fuzz target from its corpus. A crash leaves its input in the
# corpus folder, where the replay test finds it from then on.
set -euo pipefail
build=$1
seconds=$2
status=0
for target in "$build"/bin/*_fuzz; do
  name=$(basename "$target")
  corpus=fuzz/corpus/${name%_fuzz}
  work=$(mktemp -d)
  echo "== $name"
  "$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 \
    -artifact_prefix="$corpus/" "$work" "$corpus" 2>&1 | tail -n 4 || status=1
  [ "${PIPESTATUS[0]}" = 0 ] || status=1
  rm -rf "$work"
done
exit $status
