#!/usr/bin/env bash
# What Stele does today, shown on the example site in examples/: list, check, index, mend, convert.
# Works in a folder of its own, build/demo, which it makes anew.
set -euo pipefail
cd "$(dirname "$0")/.."
stele=$PWD/build/stele
work=build/demo
rm -rf "$work"
mkdir -p "$work"
cp examples/*.gz "$work"
cd "$work"

bold() { [ -t 1 ] && printf '\n\033[1m%s\033[0m\n' "$1" || printf '\n%s\n' "$1"; }
# Shows a command and runs it; an exit code of 1 means defects were found, which is the point here.
show() {
  printf '$ stele %s\n' "$*"
  "$stele" "$@" || [ $? -eq 1 ]
}

bold "1. Three files: one crawl of 2006 in the ARC format, two of 2026 in WARC"
show warc ls lighthouse-2026-02.warc.gz

bold "2. Check them: structure, fields, every digest"
show warc check ./*.gz

bold "3. Index them for replay, as pywb and OutbackCDX read it"
show warc index --sort --output all.cdxj ./*.gz
printf '%s captures of %s URLs; the opening hours:\n' \
  "$(wc -l <all.cdxj)" "$(cut -d' ' -f1 all.cdxj | sort -u | wc -l)"
grep hours all.cdxj | cut -c1-96

bold "4. Damage a copy: ten bytes flipped in one record, two hundred cut out of others"
{
  head -c 600 lighthouse-2026-01.warc.gz
  printf 'XXXXXXXXXX'
  tail -c +611 lighthouse-2026-01.warc.gz | head -c 2000
  tail -c +2811 lighthouse-2026-01.warc.gz
} >damaged.warc.gz
show warc check damaged.warc.gz

bold "5. Recover everything that was not hit"
show warc recover damaged.warc.gz --output recovered.warc.gz
show warc check recovered.warc.gz
printf '%s of %s records are back.\n' "$("$stele" warc ls --quiet recovered.warc.gz | wc -l)" \
  "$("$stele" warc ls --quiet lighthouse-2026-01.warc.gz | wc -l)"

bold "6. Convert: ARC to WARC, WARC to Tianwang, gzip to zstd"
show warc convert lighthouse-2006.arc.gz --to warc --output lighthouse-2006.warc.gz
show warc convert lighthouse-2026-01.warc.gz --to tianwang --output lighthouse-2026-01.tw
show warc recompress lighthouse-2026-01.warc.gz --compression zstd --output lighthouse-2026-01.warc.zst
show warc check lighthouse-2006.warc.gz lighthouse-2026-01.tw lighthouse-2026-01.warc.zst

bold "7. Read a page as it was in 2006, and as it is now"
for file in lighthouse-2006.warc.gz lighthouse-2026-02.warc.gz; do
  show warc cat --payload --url http://lighthouse.example/hours.html --type response "$file" |
    grep -E '^\$|<p>[A-Z]'
done

bold "Done. Everything is in $work; the program is build/stele (try: build/stele warc --help)."
