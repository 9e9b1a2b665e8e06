#!/usr/bin/env bash
# Bad input end to end: each ends with status 1, one message that names the file
# and what was wrong with it, and nothing left behind. Nothing hangs.
. "$(dirname "$0")/lib.sh"

# refused WORDS FILE [OPTIONS]: convert fails, saying the file's name and the words.
refused() {
    local words=$1 file=$2
    shift 2
    fails 1 "$file" convert "$file" -o out.tg "$@"
    contains "$err" "$words" "converting $file"
    absent out.tg
}

# What is no readable file.
refused 'No such file' missing.txt
mkdir folder
refused 'directory' folder
mkfifo pipe
refused 'FIFO' pipe
fails 1 'pipe' info pipe
: >empty.txt
refused 'empty' empty.txt
if [ "$(id -u)" -ne 0 ]; then
    echo '1 2' >locked.txt
    chmod 000 locked.txt
    refused 'Permission denied' locked.txt
    rm -f locked.txt
else
    skip 'an unreadable file: root reads everything'
fi

# Edge lists. The line is named.
printf '1 2\n3 x\n' >word.txt
refused 'word.txt:2' word.txt
printf '1 2\n3\n' >half.txt
refused 'half.txt:2' half.txt
printf '1 2\n3 18446744073709551616\n' >huge.txt
refused 'huge.txt:2' huge.txt
printf '1 2\n-3 4\n' >negative.txt
refused 'negative.txt:2' negative.txt
printf '1 2 5\n3 4\n' >missing-weight.txt
refused 'missing-weight.txt:2' missing-weight.txt
printf '1 2 5\n3 4 nan\n' >nan.txt
refused 'nan.txt:2' nan.txt

# Headers that promise something else.
head='%%MatrixMarket matrix coordinate'
printf '%s pattern general\n3 3 3\n1 2\n2 3\n' "$head" >few.mtx
refused '3' few.mtx
printf '%s pattern general\n3 3 1\n1 2\n2 3\n' "$head" >many.mtx
refused '1' many.mtx
printf '%s pattern general\n3 3 1\n1 4\n' "$head" >range.mtx
refused 'range.mtx:3' range.mtx
printf '%s pattern general\n4294967295 4294967295 1\n1 2\n' "$head" >vertices.mtx
refused '4294967294' vertices.mtx
printf 'p sp 3 1\na 1 2 5\na 2 3 5\n' >many.gr
refused '1' many.gr
printf 'p sp 3 2\na 1 2 5\n' >few.gr
refused '2' few.gr
printf 'p sp 3 1\na 1 4 5\n' >range.gr
refused 'range.gr:2' range.gr

# Compressed streams.
seq 100000 | awk '{ print $1, $1 + 1 }' >long.txt
for tool in gzip xz zstd; do
    if ! command -v $tool >/dev/null; then
        skip "$tool is not here to make a file to damage"
        continue
    fi
    $tool -qkc long.txt >long.$tool
    t convert long.$tool -o out.tg
    if [[ $err == *'without'* ]]; then
        skip "tandem was built without $tool"
        continue
    fi
    equal $status 0 "long.$tool"
    rm -f out.tg
    head -c 20000 long.$tool >cut.$tool
    refused '' cut.$tool
    { head -c 20000 long.$tool; printf 'XXXXXXXXXXXXXXXX'; tail -c +20017 long.$tool; } >damaged.$tool
    refused '' damaged.$tool
done

# A packed file with any byte flipped, cut, or of another kind.
succeeds gen rmat --scale 8 --weights 1:9 --seed 3 -o good.tg
bytes=$(stat -c %s good.tg)
flip() { # AT: the byte there, inverted
    local old
    old=$(od -An -tu1 -j "$1" -N 1 good.tg)
    cp good.tg flipped.tg
    printf "\\x$(printf %x $((old ^ 255)))" | dd of=flipped.tg bs=1 seek="$1" conv=notrunc status=none
}
for at in 0 9 30 100 600 4000 4096 4100 9000 $((bytes / 2)) $((bytes - 5000)) $((bytes - 300)) $((bytes - 1)); do
    flip "$at"
    fails 1 'flipped.tg' info flipped.tg --check
    fails 1 'flipped.tg' convert flipped.tg -o out.tg
done

# Without --check, what is shown is verified all the same.
flip 4200
fails 1 'flipped.tg is damaged: block 0 of its out offsets' info flipped.tg
head -c $((bytes - 1)) good.tg >short.tg
fails 1 'short.tg' info short.tg
{ cat good.tg; echo; } >extended.tg
fails 1 'extended.tg' info extended.tg --check
head -c 4096 /dev/urandom >noise.tg
fails 1 'noise.tg' info noise.tg --format tg

# Targets that cannot be written. What was there before stays.
echo '1 2' >in.txt
fails 1 "('tandem convert IN -o - --to NAME')" convert in.txt -o out.txt.gz
fails 2 '(--to' convert in.txt -o bare
ln in.txt other.txt
fails 2 'in.txt is the input itself' convert in.txt -o in.txt
fails 2 'other.txt is the input itself' convert in.txt -o other.txt
equal "$(cat in.txt)" '1 2' 'the input, named as output'
fails 1 'folder' convert in.txt -o folder --to tg
fails 1 'nowhere/out.tg' convert in.txt -o nowhere/out.tg
fails 1 'pipe' convert in.txt -o pipe --to tg
fails 1 '/dev/full' convert in.txt -o /dev/full --to tg
if [ "$(id -u)" -ne 0 ]; then
    mkdir closed
    chmod 500 closed
    fails 1 'closed/out.tg' convert in.txt -o closed/out.tg
    rmdir closed
else
    skip 'a folder without write permission: root writes everywhere'
fi
echo precious >kept.tg
fails 1 'word.txt:2' convert word.txt -o kept.tg
equal "$(cat kept.tg)" precious 'the old file after a failure'
"$TANDEM" info in.txt >/dev/full 2>.err
equal $? 1 'standard output on a full disk'
contains "$(cat .err)" 'standard output' 'standard output on a full disk'

# A full disk.
mkdir disk
if mount -t tmpfs -o size=256k tmpfs disk 2>/dev/null; then
    fails 1 'disk/out.tg' gen rmat --scale 14 -o disk/out.tg
    contains "$err" 'No space left' 'a full disk'
    fails 1 'disk/out.txt' gen grid --width 200 -o disk/out.txt
    contains "$err" 'No space left' 'text on a full disk'
    equal "$(ls -A disk)" '' 'files on the full disk'
    head -c 1M /dev/zero >disk/filling 2>/dev/null
    t info good.tg --json=disk/facts.json
    equal $status 1 'a report on a full disk'
    contains "$err" 'disk/facts.json' 'a report on a full disk'
    equal "$(ls disk)" filling 'files on the full disk'
    umount disk
else
    skip 'a full disk: no right to mount one'
fi

# A memory budget is kept.
fails 1 'needs at least --memory' gen rmat --scale 16 -o out.tg --memory 10M
for what in 'rmat --scale 8' 'grid --width 100 --height 100' 'path --vertices 1000' 'rmat --scale 14 --weights 1:9'; do
    fails 1 'needs at least --memory' gen $what --threads 2 -o out.tg --memory 32K # and that suffices
    enough=$(memory_named)
    succeeds gen $what --threads 2 -o out.tg --memory "$enough"
done
rm -f out.tg
fails 1 '--temp nowhere' gen rmat --scale 4 -o out.tg --temp nowhere
fails 1 '--temp in.txt is no directory' convert in.txt -o out.tg --temp in.txt
fails 1 'making out.mtx with' gen rmat --scale 30 -o out.mtx --memory 1G
fails 1 'making out.tg with' gen rmat --scale 4 --degree 1e9 -o out.tg --order hot --memory 1G
fails 1 'on the disk of' gen rmat --scale 20 --degree 1e8 -o out.tg --memory 1G
absent out.tg out.mtx

# Ctrl-C, and the others that ask to stop: one word, nothing left behind.
mkdir stop
for signal in INT TERM HUP; do
    # A shell's background job ignores SIGINT unless told otherwise.
    env --default-signal=$signal "$TANDEM" gen rmat --scale 21 --seed 1 --threads 1 -o stop/big.tg 2>.err &
    job=$!
    sleep 0.3
    kill -$signal $job
    wait $job
    equal $? 1 "status after SIG$signal"
    equal "$(cat .err)" 'tandem: interrupted' "message after SIG$signal"
    equal "$(ls -A stop)" '' "files after SIG$signal"
done
finish
