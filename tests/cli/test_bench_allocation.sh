# `tandem bench allocation`: every figure is there, and every drawn instance is proved, or the benchmark fails.
. "$(dirname "$0")/lib.sh"

fails 2 "unexpected argument 'k10': bench allocation makes its own graphs" bench allocation k10
succeeds bench allocation --trials 1 --json figures.json
for word in '4 GPUs, own edges cheapest' '8 GPUs, any costs' '16 GPUs' 'groups of 1 to 8' 'a whole decision'; do
    contains "$out" "$word" 'the table'
done
equal "$(grep -c '"unit": "us"' figures.json)" 8 'figures'
if command -v python3 >/dev/null || perl -MJSON::PP -e 1 2>/dev/null; then
    if is_json <figures.json; then good; else bad "no JSON: $(cat figures.json)"; fi
fi
finish
