#!/bin/bash
# ZooKeeper 3.8 of Debian: one standalone server with short sessions, no admin web server.
. "$(dirname "$0")/lib.sh"

do_install() { apt_need zookeeper libzookeeper-mt-dev default-jre-headless; }

# With a limit: a server that is still starting may accept and never answer.
up() {
  timeout 2 bash -c 'exec 3<>"/dev/tcp/$0/$1" && printf srvr >&3 && grep -q "^Mode: standalone" <&3' \
    "$HOST" "$PORT" 2>/dev/null
}

do_start() {
  ! alive "$DIR/zookeeper.pid" || ! up || return 0
  mkdir -p "$DIR/data"
  cat >"$DIR/zoo.cfg" <<S
tickTime=200
dataDir=$DIR/data
clientPort=$PORT
clientPortAddress=$HOST
admin.enableServer=false
4lw.commands.whitelist=*
maxClientCnxns=0
minSessionTimeout=400
maxSessionTimeout=60000
S
  cat >"$DIR/log4j.properties" <<'S'
log4j.rootLogger=INFO, C
log4j.appender.C=org.apache.log4j.ConsoleAppender
log4j.appender.C.layout=org.apache.log4j.PatternLayout
log4j.appender.C.layout.ConversionPattern=%d %p %c{1} %m%n
S
  local class_path
  class_path=$(. /etc/zookeeper/conf/environment; echo "$CLASSPATH")
  spawn "$DIR/zookeeper.pid" "$DIR/zookeeper.log" java -Xmx256m -XX:+UseSerialGC \
    -XX:TieredStopAtLevel=1 -Dzookeeper.forceSync=no \
    -Dlog4j.configuration="file:$DIR/log4j.properties" -cp "$DIR:$class_path" \
    org.apache.zookeeper.server.quorum.QuorumPeerMain "$DIR/zoo.cfg"
  wait_for 60 "$DIR/zookeeper.pid" "$DIR/zookeeper.log" up
}

do_info() { echo "host=$HOST"; }

do_stop() { stop_pid "$DIR/zookeeper.pid"; }

main "$@"
