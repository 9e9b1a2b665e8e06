/* What the watch says of accesses that break a rule: file and line, and the other thread or operation. */
#include "device/emulator/watch_report.h"

#include "device/emulator/code_line.h"

static const char *const verbs[] = {"reads", "writes plainly", "touches atomically", "touches atomically",
                                    "touches atomically"};

const td_emu_machine *td_cell_member(const td_emu_machine *machine, uint64_t cell)
{
    const td_emu_joint *joint = machine->joint;
    uint32_t i = 0;
    while (i + 1 < joint->count && thread_of(cell) - joint->member[i]->first_id >= joint->member[i]->ids) i++;
    return joint->member[i];
}

static void report_members_race(const td_emu_machine *machine, td_site site, access_kind kind, uint64_t cell, const char *did)
{
    const td_emu_machine *m = td_cell_member(machine, cell);
    uint32_t other = thread_of(cell) - m->first_id;
    td_emu_break(site, "race between devices: it %s a word of device memory that thread %u of block %u of %s %s, with no "
                 "set barrier between", verbs[kind], other % m->shape.threads, other / m->shape.threads, m->device->name,
                 did);
}

void td_watch_report_race(const td_emu_machine *m, const void *code, access_kind kind, uint64_t cell, bool written, bool shared)
{
    char name[TD_EMU_WORDS];
    td_site site = td_code_line(code, name, sizeof name);
    const char *did = written ? "wrote plainly" : "touched";
    if (!td_cell_is_of(m, cell)) report_members_race(m, site, kind, cell, did);
    uint32_t threads = m->shape.threads, other = thread_of(cell) - m->first_id;
    td_emu_break(site, "race: it %s a word of %s memory that thread %u of block %u %s, with no barrier between",
                 verbs[kind], shared ? "shared" : "device", other % threads, other / threads, did);
}

void td_watch_report_unordered(const td_emu_machine *m, const void *code, access_kind kind, const td_emu_op *other, bool written)
{
    char name[TD_EMU_WORDS], words[TD_OP_WORDS];
    td_site site = td_code_line(code, name, sizeof name);
    td_emu_break(site, "race between streams: it (stream %u of %s) %s a word that %s %s; nothing orders them: wait for an "
                 "event recorded behind the first, or synchronize its stream", m->stream,
                 m->device->name, verbs[kind], td_op_describe(other, words), written ? "wrote" : "touched");
}

void td_watch_refuse(const td_emu_machine *m, uintptr_t at, uint64_t bytes, access_kind kind, const void *code)
{
    char name[TD_EMU_WORDS], words[TD_EMU_WORDS];
    td_site site = td_code_line(code, name, sizeof name);
    td_emu_break(site, "%s %llu bytes %s", kind == PLAIN_READ ? "reads" : kind == PLAIN_WRITE ? "writes" : "touches",
                 (unsigned long long)bytes, td_region_describe(m->regions, at, words));
}

void td_watch_refuse_peer(const td_emu_machine *m, const td_region *region, const void *code)
{
    char name[TD_EMU_WORDS];
    td_site site = td_code_line(code, name, sizeof name);
    if (m->peer_rate[region->number] == 0)
        td_emu_break(site, "touches the memory of %s, to which there is no link", region->device->name);
    td_emu_break(site, "touches the memory of %s, to which access is not enabled (td_device_enable_peer)",
                 region->device->name);
}
