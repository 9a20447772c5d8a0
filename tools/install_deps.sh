#!/usr/bin/env bash
# The one list of packages. Installs what is missing on Debian 12; does nothing on a second run.
set -euo pipefail
cd "$(dirname "$0")/.."

build=(g++ cmake ninja-build ccache pkg-config make git python3 python3-venv ca-certificates
       libfmt-dev libspdlog-dev nlohmann-json3-dev libcli11-dev libyaml-cpp-dev
       libroaring-dev libzstd-dev libsnappy-dev libdeflate-dev liblz4-dev zlib1g-dev
       libsqlite3-dev libpq-dev libmariadb-dev libzookeeper-mt-dev libssl-dev
       libcpp-httplib-dev libbrotli-dev prometheus-cpp-dev librocksdb-dev libbz2-dev
       libgtest-dev libgmock-dev libbenchmark-dev patchelf)
check=(clang-format-14)
test=(sqlite3 zstd openjdk-17-jdk-headless maven postgresql-15 mariadb-server zookeeper
      curl prometheus chromium-headless-shell)
fuzz=(clang-14 libclang-rt-14-dev)

packages=("${build[@]}" "${check[@]}")
for set in "$@"; do
  case "$set" in
    test) packages+=("${test[@]}") ;;
    fuzz) packages+=("${fuzz[@]}") ;;
    *) echo "install_deps.sh: unknown set '$set' (test, fuzz)" >&2; exit 2 ;;
  esac
done

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
# A JDK or Maven that came another way serves as well.
if command -v javac >/dev/null; then missing=("${missing[@]/openjdk-17-jdk-headless/}"); fi
if command -v mvn >/dev/null; then missing=("${missing[@]/maven/}"); fi
if command -v cmake >/dev/null; then missing=("${missing[@]/#cmake/}"); fi
read -ra missing <<<"${missing[*]}" || true
if [ ${#missing[@]} -gt 0 ]; then
  sudo=()
  [ "$(id -u)" = 0 ] || sudo=(sudo)
  "${sudo[@]}" apt-get update -q
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}"
fi

# venv FOLDER REQUIREMENTS: made once per content of the requirements file.
venv() {
  cmp -s "$2" "$1/installed.txt" && return 0
  rm -rf "$1"
  python3 -m venv "$1"
  "$1/bin/pip" install -q --require-hashes -r "$2" || { rm -rf "$1"; return 1; }
  cp "$2" "$1/installed.txt"
}
venv .venv tools/requirements.txt

for set in "$@"; do
  [ "$set" = test ] || continue
  venv .venv-peers tools/requirements-peers.txt
  # The Java referee: real Iceberg and Flink libraries.
  stamp=$(find test/oracle -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)
  if [ "$(cat .cache/oracle/stamp 2>/dev/null)" != "$stamp" ]; then
    mkdir -p .cache
    rm -rf .cache/oracle/src
    cp -r test/oracle .cache/
    (cd .cache/oracle && ./build.sh)
    echo "$stamp" >.cache/oracle/stamp
  fi
done
