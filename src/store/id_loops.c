#include "store/id_loops.h"

#include "base/isa.h"

#define TD_ISA(suffix, name) extern const td_id_loops td_id_loops_##suffix;
#include "isa_levels.def"
#undef TD_ISA

static const td_id_loops *const by_level[] = {
#define TD_ISA(suffix, name) &td_id_loops_##suffix,
#include "isa_levels.def"
#undef TD_ISA
};

const td_id_loops *td_id_loops_in_use(void) { return by_level[td_isa_level()]; }
