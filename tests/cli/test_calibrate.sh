# `tandem calibrate` on emulated GPUs: it trains a model, stores it where runs with multi.cost=model look for it, and
# compares models on families that they were not trained on.
. "$(dirname "$0")/lib.sh"
export XDG_DATA_HOME=$folder/data

fails 2 'are for the cost models of several GPUs' calibrate g.tg
fails 2 'are for the cost models of several GPUs' calibrate --machine --size none
fails 2 '-o names a file' calibrate --machine --devices emu --size small
fails 2 'allowed are none, small and normal' calibrate --devices emu:2 --size huge
fails 2 "and there is one" calibrate --devices emu@dgx1
fails 1 'nowhere' calibrate --devices emu:2@late --size small -o nowhere/x.model
only_files

succeeds gen rmat --scale 8 --weights 1:9 --symmetrize -o g.tg
fails 1 'tandem calibrate --devices emu:2@late' run bfs g.tg --source 0 --engine multi --devices emu:2@late --quiet \
    --set multi.cost=model
fails 2 'multi.cost=model, which is not set' run bfs g.tg --source 0 --engine multi --devices emu:2 \
    --set multi.model=x.model

# Late enough behind the refusals: the model is there now, and the run takes it.
succeeds calibrate g.tg --devices emu:2@late --size small --json errors.json --samples samples.log
contains_all "$out" 'the tables' 'push: RMSRE' 'gather: RMSRE' linear polynomial tree exponential rmat uniform grid web \
    "wrote $folder/data/tandem/cost-emu-late.model"
contains "$out" "
g  " 'the family of the given graph'
[ -s data/tandem/cost-emu-late.model ] || bad 'no model'
contains "$(cat samples.log)" 'work gather' 'the samples'
if command -v python3 >/dev/null || perl -MJSON::PP -e 1 2>/dev/null; then
    if is_json <errors.json; then good; else bad "no JSON: $(cat errors.json)"; fi
fi
contains "$(cat errors.json)" '"held_out_error": 0.' 'the error on families that were held out'
succeeds run bfs g.tg --source 0 --engine multi --devices emu:3@late --set multi.cost=model --set multi.t1=0 \
    --set multi.t2=0 --verify --json run.json
contains_all "$(cat run.json)" 'rows' '"load": [' '"share": [' '"steal": "' '"predicted_seconds": '
succeeds run bfs g.tg --source 0 --engine multi --devices emu:2 --set multi.cost=model \
    --set multi.model=data/tandem/cost-emu-late.model

# Samples can be trained on again, without any run.
fails 1 'there is no sample' calibrate --devices emu:2@late --size none --quiet -o again.model
succeeds calibrate --devices emu:2@late --size none --log samples.log -o again.model
contains "$out" ': 0 runs' 'what was run'
equal "$(cat again.model)" "$(cat data/tandem/cost-emu-late.model)" 'a model of the same samples'

# Bounded in time: no graph is begun after that, and the given ones come first.
fails 2 '--seconds' calibrate --seconds 5
succeeds calibrate g.tg --devices emu:2@late --size small --log samples.log --seconds 0.0001 -o bounded.model --json bounded.json
contains "$out" ' on 1 graph in ' 'what was run'
contains "$(cat bounded.json)" '"graphs": 1,' 'the report'

# A model that was cut off is refused by its line.
head -n 20 data/tandem/cost-emu-late.model >cut.model
fails 1 'cut.model:21: ends before' run bfs g.tg --source 0 --engine multi --devices emu:2 --quiet --set multi.cost=model \
    --set multi.model=cut.model

# The machine: rates that a plan takes, and a damaged file that it does not.
succeeds calibrate --size small --json rates.json
contains_all "$out" 'the rates' cpu.search.edge cpu.gather.edge load finish 'of a GPU: defaults' "wrote $folder/data/tandem/machine-"
contains_all "$(cat rates.json)" 'the report' '"cpu.forest.edge": ' '"gpu_measured": false'
succeeds plan bfs g.tg
contains "$out" 'calibrated rates for' 'the basis of a plan'
[[ $out != *'not calibrated'* ]] || bad 'the rates are not taken'
sed -i 's/^load .*/load 0/' data/tandem/machine-*.rates
t plan bfs g.tg
contains "$err" "is no value of load; 'tandem calibrate' measures the rates again" 'a damaged file'
contains "$out" 'not calibrated' 'the basis of a plan then'
rm data/tandem/machine-*.rates
succeeds calibrate --machine --devices emu@unchecked --size small --threads 2 -o gpu.rates
contains_all "$(cat gpu.rates)" 'rates of a GPU' 'gpu.search.edge ' 'upload ' 'threads 2'
finish
