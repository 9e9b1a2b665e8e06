#ifndef TD_DEVICE_EMULATOR_WATCH_REPORT_H
#define TD_DEVICE_EMULATOR_WATCH_REPORT_H

#include "device/emulator/order.h"
#include "device/emulator/regions.h"
#include "device/emulator/watch_cell.h"

/* The member of a joint launch that a cell's thread belongs to. */
const td_emu_machine *td_cell_member(const td_emu_machine *machine, uint64_t cell);

/* These end the launch. Races with a thread of this launch or of another member; with an operation of another stream or
 * device. */
void td_watch_report_race(const td_emu_machine *m, const void *code, access_kind kind, uint64_t cell, bool written,
                          bool shared);
void td_watch_report_unordered(const td_emu_machine *m, const void *code, access_kind kind, const td_emu_op *other,
                               bool written);

/* Accesses to what is no memory of the GPU, and to another GPU's memory that it may not touch. */
void td_watch_refuse(const td_emu_machine *m, uintptr_t at, uint64_t bytes, access_kind kind, const void *code);
void td_watch_refuse_peer(const td_emu_machine *m, const td_region *region, const void *code);

#endif
