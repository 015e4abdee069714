#!/usr/bin/env bash
# What Stele does, shown on the example site in examples/, which is served here and changes between
# crawls. Works in a folder of its own, build/demo or the one named, which it makes anew. At the end
# the archive is served until Ctrl-C; where nobody watches, only until it has answered.
set -euo pipefail
cd "$(dirname "$0")/.."
stele=${STELE:-$PWD/build/stele}
examples=$PWD/examples
work=${1:-build/demo}
rm -rf "$work"
mkdir -p "$work"
cd "$work"
export STELE_ARCHIVE=lighthouse.example

bold() { [ -t 1 ] && printf '\n\033[1m%s\033[0m\n' "$1" || printf '\n%s\n' "$1"; }
# Shows a command and runs it; an exit code of 1 means defects were found, which is the point here.
show() {
  printf '$ stele %s\n' "$*"
  "$stele" "$@" || [ $? -eq 1 ]
}

python3 "$examples/lighthouse_server.py" port &
site=$!
trap 'kill "$site" 2>/dev/null || true' EXIT
for _ in $(seq 100); do [ -s port ] || sleep 0.1; done
# The site has no address of its own: it is asked through the port where it is served.
crawl=(crawl --delay 0 --proxy "127.0.0.1:$(cat port)")

bold "1. A site is crawled three times; it changes in between, and only what changed is stored"
show "${crawl[@]}" http://lighthouse.example/
kill -USR1 "$site"
show crawl
kill -USR1 "$site"
show crawl

bold "2. What changed between the last two crawls, and how"
show changes
show diff http://lighthouse.example/news.html

bold "3. An older crawl of the site, of 2006, in a format of its time, joins it"
show import "$examples/lighthouse-2006.arc.gz"
show ls --pages http://lighthouse.example/hours.html
show get --at 2010 http://lighthouse.example/hours.html | grep -E '^\$|<p>[A-Z]'
show study duplicates

bold "4. Take a part out: it replays alone, in pywb or any other tool"
show export --run 1 first.warc.gz
show warc check first.warc.gz

bold "5. A file is damaged: ten bytes are flipped. That is found, and a backup mends it"
kept=$(ls "$STELE_ARCHIVE"/volumes/main/*/lighthouse-2006.arc.gz)
printf 'XXXXXXXXXX' | dd of="$kept" bs=1 seek=600 conv=notrunc status=none
show verify
cp "$examples/lighthouse-2006.arc.gz" "$kept"

bold "6. All indexes are lost: they are made again from the files and the ledger"
rm -r "$STELE_ARCHIVE/catalog" "$STELE_ARCHIVE"/volumes/main/*.rows
show reindex
show verify

bold "7. The archive in a browser"
if [ -t 1 ]; then
  printf 'The archive is %s, the program build/stele. Ctrl-C ends it.\n' "$work/$STELE_ARCHIVE"
  show serve
else
  "$stele" serve --listen 127.0.0.1:0 --replay-listen 127.0.0.1:0 >address &
  server=$!
  trap 'kill "$site" "$server" 2>/dev/null || true' EXIT
  for _ in $(seq 100); do [ -s address ] || sleep 0.1; done
  url=$(head -1 address)
  printf '$ stele serve\n%s\n' "$url"
  python3 -c 'import sys, urllib.request as r; print(r.urlopen(sys.argv[1] + "health").read().decode())' "$url"
fi
bold "Done. The archive is $work/$STELE_ARCHIVE; look at it with: build/stele serve --archive $work/$STELE_ARCHIVE"
