# shellcheck shell=bash disable=SC2034
# What the service scripts share. Source it; it starts nothing.
#
#   NAME.sh install                apt packages
#   NAME.sh start DIR PORT         idempotent; waits until the server answers; prints KEY=VALUE lines
#   NAME.sh stop DIR
#   NAME.sh share DIR PORT         start, and stop it when nobody has held a shared lock on DIR.users
#                                  for a while: test programs that run side by side use one server
#
# Pid files, logs and data lie in DIR; servers listen on 127.0.0.1 only.
set -euo pipefail
HOST=127.0.0.1
ME=$(basename "$0" .sh)
IDLE_SECONDS=10

say() { echo "$ME: $*" >&2; }
die() { say "$*"; exit 1; }
alive() { [ -s "$1" ] && kill -0 "$(cat "$1")" 2>/dev/null; }

# spawn PIDFILE LOG CMD...: in its own session, without stdin; PIDFILE gets the pid of CMD itself.
spawn() {
  local pidfile=$1 log=$2; shift 2
  setsid bash -c 'echo $$ >"$0"; exec "$@"' "$pidfile" "$@" </dev/null >>"$log" 2>&1 &
  disown
  for _ in $(seq 100); do [ -s "$pidfile" ] && return 0; sleep 0.02; done
  die "no pid file $pidfile"
}

# wait_for SECONDS PIDFILE LOG CMD...: until CMD succeeds. If the process dies or the time is out, it
# is stopped and the script fails.
wait_for() {
  local end=$((SECONDS + $1)) pidfile=$2 log=$3; shift 3
  while ! "$@" >/dev/null 2>&1; do
    if ! alive "$pidfile"; then tail -n 30 "$log" >&2; die "the server died while starting ($log)"; fi
    if [ $SECONDS -ge $end ]; then
      tail -n 30 "$log" >&2; stop_pid "$pidfile"; die "the server was not ready in time ($log)"
    fi
    sleep 0.1
  done
}

# stop_pid PIDFILE: TERM, up to 15 s, then KILL; only the process in the file.
stop_pid() {
  local pidfile=$1 pid
  [ -s "$pidfile" ] || return 0
  pid=$(cat "$pidfile")
  if kill -0 "$pid" 2>/dev/null; then
    kill -TERM "$pid" 2>/dev/null || true
    for _ in $(seq 150); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    ! kill -0 "$pid" 2>/dev/null || kill -KILL "$pid" 2>/dev/null || true
  fi
  rm -f "$pidfile"
}

# apt_need PACKAGE...: installs those that are missing.
apt_need() {
  local package missing=()
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] ||
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" >&2
}

# Who starts a server holds DIR.lock; so does who stops it.
watch_users() {
  local idle=0
  while [ $idle -lt $IDLE_SECONDS ]; do
    sleep 1
    if flock -n -x "$DIR.users" true; then idle=$((idle + 1)); else idle=0; fi
  done
  exec 9>"$DIR.lock"
  flock -x 9
  flock -n -x "$DIR.users" true || { exec 9>&-; watch_users; return; }
  do_stop
  rm -rf "$DIR"
}

enter() { mkdir -p "$1"; DIR=$(cd "$1" && pwd); PORT=${2:-}; }

main() {
  case "${1:-}" in
    install) do_install ;;
    start) [ $# = 3 ] || die "usage: $ME.sh start DIR PORT"; enter "$2" "$3"; do_start; do_info ;;
    share)
      [ $# = 3 ] || die "usage: $ME.sh share DIR PORT"; enter "$2" "$3"; do_start; do_info
      alive "$DIR/watcher.pid" || spawn "$DIR/watcher.pid" "$DIR/watcher.log" "$0" watch "$DIR" ;;
    watch) enter "$2"; watch_users ;;
    stop) [ $# = 2 ] || die "usage: $ME.sh stop DIR"; [ -d "$2" ] || exit 0; enter "$2"; do_stop ;;
    *) die "usage: $ME.sh install | start DIR PORT | share DIR PORT | stop DIR" ;;
  esac
}
