#!/usr/bin/env bash
# Gets a browser for the studio's tests where that needs no questions: Debian's Chromium, as root.
# Elsewhere the tests that need one are skipped, and say so.
set -u
for name in chromium chromium-browser google-chrome; do
  command -v "$name" >/dev/null 2>&1 && exit 0
done
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "No Chromium here: tests in a browser will be skipped. Install chromium to run them." >&2
  exit 0
fi
echo "Installing Chromium for the tests in a browser ..." >&2
log=$(mktemp)
if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
       apt-get install -y -qq --no-install-recommends chromium; } >"$log" 2>&1; then
  echo "Chromium could not be installed: tests in a browser will be skipped." >&2
  tail -3 "$log" >&2
fi
rm -f "$log"
