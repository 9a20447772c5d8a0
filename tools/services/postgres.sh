#!/bin/bash
# PostgreSQL 15 of Debian: a data directory of its own, trust authentication, no fsync.
. "$(dirname "$0")/lib.sh"
BIN=/usr/lib/postgresql/15/bin
# The server refuses to run as root: then it runs as the package's own user.
RUN=(); [ "$(id -u)" != 0 ] || RUN=(runuser -u postgres --)

do_install() { apt_need postgresql-15 postgresql-client-15 libpq-dev; }

do_start() {
  local data=$DIR/data
  if [ "$(id -u)" = 0 ]; then
    chown postgres "$DIR"
    "${RUN[@]}" test -x "$DIR" || die "user postgres cannot enter $DIR: make its parents traversable"
  fi
  [ -s "$data/PG_VERSION" ] ||
    "${RUN[@]}" "$BIN/initdb" -D "$data" -A trust -U postgres -E UTF8 --locale=C.UTF-8 --no-sync \
      >>"$DIR/initdb.log" 2>&1 || die "initdb failed ($DIR/initdb.log)"
  ! "${RUN[@]}" "$BIN/pg_ctl" -D "$data" status >/dev/null || return 0
  "${RUN[@]}" "$BIN/pg_ctl" -D "$data" -l "$DIR/postgres.log" -w -t 60 \
    -o "-p $PORT -c listen_addresses=$HOST -c unix_socket_directories='$DIR' -c fsync=off" \
    start >/dev/null 9>&- || { tail "$DIR/postgres.log" >&2; die "no start"; }
}

do_info() { echo "host=$HOST"; echo "user=postgres"; echo "password="; echo "database=postgres"; }

do_stop() {
  [ ! -s "$DIR/data/postmaster.pid" ] ||
    "${RUN[@]}" "$BIN/pg_ctl" -D "$DIR/data" -m fast -w stop >/dev/null
}

main "$@"
