#include "made_text.h"

#include "base/log.h"
#include "base/machine.h"
#include "base/size.h"

void td_show_out_of_memory(const td_made *made)
{
    char memory[TD_NUMBER_BYTES], temporary[TD_NUMBER_BYTES], resident[TD_NUMBER_BYTES];
    td_info("built out of memory, within %s: read and bucketed %.3f s, by source %.3f s, by target %.3f s, finished "
            "%.3f s", td_format_size(memory, made->memory), made->fill_seconds, made->out_seconds, made->in_seconds,
            made->finish_seconds);
    td_info("%s of temporary files; peak resident memory %s", td_format_size(temporary, made->temporary_bytes),
            td_format_size(resident, td_machine_peak_resident()));
}

void td_json_out_of_memory(td_json *json, const td_made *made)
{
    td_json_object(json, "out_of_memory");
    td_json_u64(json, "memory", made->memory);
    td_json_u64(json, "edges_read", made->edges_read);
    td_json_u64(json, "temporary_bytes", made->temporary_bytes);
    td_json_real(json, "fill_seconds", made->fill_seconds);
    td_json_real(json, "out_seconds", made->out_seconds);
    td_json_real(json, "in_seconds", made->in_seconds);
    td_json_real(json, "finish_seconds", made->finish_seconds);
    td_json_end_object(json);
}
