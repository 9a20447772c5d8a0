#!/usr/bin/env bash
# make_dist.sh BUILD OUT: a folder with the program and the libraries that a machine may lack.
set -euo pipefail
build=$1
out=$2
rm -rf "$out"
mkdir -p "$out/bin" "$out/lib"
cp "$build/bin/icewright" "$out/bin/"
# Everything but the C library and its kin, which belong to the machine.
ldd "$out/bin/icewright" | awk '$3 ~ /^\// {print $1, $3}' | while read -r name path; do
  case "$name" in
    libc.so.* | libm.so.* | libdl.so.* | librt.so.* | libpthread.so.* | ld-linux* | libresolv.so.*) ;;
    *) cp -L "$path" "$out/lib/$name" ;;
  esac
done
patchelf --set-rpath '$ORIGIN/../lib' "$out/bin/icewright"
for library in "$out"/lib/*; do patchelf --set-rpath '$ORIGIN' "$library"; done
strip --strip-unneeded "$out/bin/icewright"
cp LICENSE README.md "$out/"
echo "made $out ($(du -sh "$out" | cut -f1))"
