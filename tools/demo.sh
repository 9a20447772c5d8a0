#!/usr/bin/env bash
# Compacts a real table: flights, written by a Flink streaming job in 40 commits. Shows files, bytes,
# row digest and planning before and after. The table is unpacked at the place its metadata names
# (/tmp/iceberg-fixtures) and registered in a SQLite catalog made for the demo.
set -euo pipefail
cd "$(dirname "$0")/.."
iw=${ICEWRIGHT:-$PWD/build/release/bin/icewright}
home=/tmp/iceberg-fixtures
demo=$(mktemp -d)
trap 'rm -rf "$demo"' EXIT

exec 9>"$home.lock"
flock 9 # whole-system tests use the same place
rm -rf "$home/fx/flights"
tar -C /tmp --zstd -xf test/golden/iceberg-fixtures.tar.zst iceberg-fixtures/fx/flights

cat >"$demo/icewright.yaml" <<YAML
catalog:
  demo:
    type: jdbc
    uri: jdbc:sqlite:file:$demo/catalog.db
    warehouse: file:$home
YAML
run() {
  echo
  echo "\$ icewright $*"
  "$iw" --config "$demo/icewright.yaml" "$@"
}
plan() {
  "$iw" --config "$demo/icewright.yaml" --output json scan demo.fx.flights --plan
}

run register demo.fx.flights "$home/fx/flights"
run health demo.fx.flights
run scan demo.fx.flights --digest
run scan demo.fx.flights --plan --filter "time_hour >= '2013-06-01' and time_hour < '2013-07-01'"
run rewrite-data-files demo.fx.flights --dry-run
run rewrite-data-files demo.fx.flights --verify
run scan demo.fx.flights --digest
run scan demo.fx.flights --plan --filter "time_hour >= '2013-06-01' and time_hour < '2013-07-01'"

before=$("$iw" --config "$demo/icewright.yaml" --output json scan "$home/fx/flights" --digest)
after=$("$iw" --config "$demo/icewright.yaml" --output json scan demo.fx.flights --digest)
echo
if [ "$before" = "$after" ]; then
  echo "The compacted table and the original hold the same rows: $after"
else
  echo "The rows differ: $before became $after" >&2
  exit 1
fi
