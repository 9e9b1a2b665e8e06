# Graphs striped over directories: made, described, read, refused.
. "$(dirname "$0")/lib.sh"

mkdir disk1 disk2 disk3
succeeds gen rmat --scale 12 --degree 8 --weights 1:100 -o plain.tg
succeeds gen rmat --scale 12 --degree 8 --weights 1:100 -o made.tg --stripe disk1,disk2
succeeds convert plain.tg -o g.tg --stripe disk1,disk2,disk3
succeeds convert g.tg -o back.tg
if cmp -s plain.tg back.tg; then good; else bad 'a striped graph comes back as another file'; fi
succeeds info --check g.tg
contains "$out" 'stripes      3' 'info'
succeeds run bfs g.tg --source 1
fails 2 '--stripe is for packed graphs' convert plain.tg -o g.mtx --stripe disk1
fails 1 'nowhere' convert plain.tg -o g2.tg --stripe disk1,nowhere
fails 2 'names the directory disk1/../disk1 twice' convert plain.tg -o g2.tg --stripe disk1,disk2,disk1/../disk1
fails 2 'names the directory disk1 twice' gen rmat --scale 4 -o g2.tg --stripe disk1,disk1
absent g2.tg disk1/g2.tg.1of2
mv disk2/g.tg.2of3 kept
fails 1 'disk2/g.tg.2of3' run bfs g.tg --source 1
cp disk2/made.tg.2of2 disk2/g.tg.2of3
fails 1 'g.tg.2of3 is stripe 2 of 2' info g.tg

finish
