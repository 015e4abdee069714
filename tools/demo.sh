#!/usr/bin/env bash
# What Stele does today, shown on the example site in examples/: an archive of three crawls, what
# changed between them, one of them damaged and mended. Works in a folder of its own, build/demo,
# which it makes anew.
set -euo pipefail
cd "$(dirname "$0")/.."
stele=$PWD/build/stele
work=build/demo
rm -rf "$work"
mkdir -p "$work"
cp examples/*.gz "$work"
cd "$work"
export STELE_ARCHIVE=lighthouse

bold() { [ -t 1 ] && printf '\n\033[1m%s\033[0m\n' "$1" || printf '\n%s\n' "$1"; }
# Shows a command and runs it; an exit code of 1 means defects were found, which is the point here.
show() {
  printf '$ stele %s\n' "$*"
  "$stele" "$@" || [ $? -eq 1 ]
}

bold "1. An archive of three crawls of a site: one of 2006 in the ARC format, two of 2026 in WARC"
for file in lighthouse-2006.arc.gz lighthouse-2026-01.warc.gz lighthouse-2026-02.warc.gz; do
  show import "$file"
done
show info

bold "2. Any page at any moment"
show ls --pages
show get --at 2010 http://lighthouse.example/hours.html | grep -E '^\$|<p>[A-Z]'
show get http://lighthouse.example/hours.html | grep -E '^\$|<p>[A-Z]'

bold "3. What changed between the last two crawls, and how"
show changes
show diff http://lighthouse.example/hours.html

bold "4. Take a part out: it replays alone, in pywb or any other tool"
show export --at 2026-01 january.warc.gz
show warc check january.warc.gz

bold "5. A file is damaged: ten bytes flipped, two hundred cut out"
kept=$(ls "$STELE_ARCHIVE"/volumes/main/*/lighthouse-2026-01.warc.gz)
{
  head -c 600 lighthouse-2026-01.warc.gz
  printf 'XXXXXXXXXX'
  tail -c +611 lighthouse-2026-01.warc.gz | head -c 2000
  tail -c +2811 lighthouse-2026-01.warc.gz
} >"$kept"
show verify
show warc recover "$kept" --output recovered.warc.gz
printf '%s of %s records could be recovered; the backup has all of them.\n' \
  "$("$stele" warc ls --quiet recovered.warc.gz | wc -l)" \
  "$("$stele" warc ls --quiet lighthouse-2026-01.warc.gz | wc -l)"
cp lighthouse-2026-01.warc.gz "$kept"
show verify

bold "6. All indexes are lost: they are made again from the files and the ledger"
rm -r "$STELE_ARCHIVE/catalog" "$STELE_ARCHIVE"/volumes/main/*.rows
show reindex
show verify

bold "Done. The archive is $work/$STELE_ARCHIVE; the program is build/stele (try: build/stele --help)."
echo "To look at it in a browser: build/stele serve --archive $work/$STELE_ARCHIVE --open"
