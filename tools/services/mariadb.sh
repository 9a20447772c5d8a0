#!/bin/bash
# MariaDB 10.11 of Debian: a data directory of its own; user iceberg, password test.
. "$(dirname "$0")/lib.sh"
AS=(); [ "$(id -u)" != 0 ] || AS=(--user=root)

do_install() { apt_need mariadb-server mariadb-client libmariadb-dev; }

up() { mariadb --no-defaults -h $HOST -P "$PORT" -u iceberg -ptest -e 'select 1' iceberg; }

do_start() {
  ! alive "$DIR/mariadb.pid" || return 0
  [ -d "$DIR/data/mysql" ] ||
    mariadb-install-db --no-defaults "${AS[@]}" --datadir="$DIR/data" \
      --auth-root-authentication-method=normal --skip-test-db >>"$DIR/install.log" 2>&1 ||
    die "mariadb-install-db failed ($DIR/install.log)"
  cat >"$DIR/init.sql" <<'S'
CREATE DATABASE IF NOT EXISTS iceberg CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE OR REPLACE USER 'iceberg'@'127.0.0.1' IDENTIFIED BY 'test';
GRANT ALL ON *.* TO 'iceberg'@'127.0.0.1';
S
  spawn "$DIR/mariadb.pid" "$DIR/mariadb.log" /usr/sbin/mariadbd --no-defaults "${AS[@]}" \
    --datadir="$DIR/data" --bind-address=$HOST --port="$PORT" --socket="$DIR/mariadb.sock" \
    --skip-name-resolve --pid-file="$DIR/data/server.pid" --init-file="$DIR/init.sql" \
    --innodb-buffer-pool-size=64M --innodb-flush-log-at-trx-commit=0
  wait_for 60 "$DIR/mariadb.pid" "$DIR/mariadb.log" up
}

do_info() { echo "host=$HOST"; echo "user=iceberg"; echo "password=test"; echo "database=iceberg"; }

do_stop() { stop_pid "$DIR/mariadb.pid"; }

main "$@"
