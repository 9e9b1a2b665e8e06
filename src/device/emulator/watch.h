/* The watch: checks every access of a kernel to memory.
 *
 * Units of kernels are compiled with -fsanitize=thread, so that the compiler puts
 * a call before each access, and linked with watch.c instead of the sanitizer.
 * Accesses are counted, refused outside of memory that a GPU could access
 * (regions.h), and compared with the last accesses of other threads to the same word.
 *
 * Time is counted in ticks, one per barrier. A word has two cells: the
 * last plain write, and the last other access. A cell holds the tick, the thread and
 * the bytes of the word. Two accesses of different threads, one of them a plain
 * write, race unless a barrier of both lies between: the grid's or the launch's begin
 * (a tick for all), the set barrier of a joint launch (a tick for all of its members;
 * a grid barrier is a tick of the member then), the block's (a tick of the block), or
 * an exchange (each lane has a vector clock: for every lane of its warp, the tick up to which that
 * lane's accesses happened before its own). */
#ifndef TD_DEVICE_EMULATOR_WATCH_H
#define TD_DEVICE_EMULATOR_WATCH_H

#include "device/emulator/machine.h"

struct td_emu_cell {
    uint64_t written, touched;
};

/* Cells for memory of so many bytes, and how much memory they are; none when nothing is watched in this build. */
td_status td_watch_cells(td_emu_cell **out, uint64_t bytes);
uint64_t td_watch_cells_bytes(uint64_t bytes);

void td_watch_start(td_emu_machine *machine);
void td_watch_stop(void);
void td_watch_pause(td_emu_machine *machine);  /* saves the state of the launch */
void td_watch_resume(td_emu_machine *machine); /* restores it; other operations may have been executed meanwhile */
void td_watch_start_joint(td_emu_joint *joint);
void td_watch_member(td_emu_machine *machine); /* the accesses that follow are this member's */
void td_watch_grid_barrier(void); /* all threads of td_emu_now have passed a grid barrier */
void td_watch_set_barrier(void);  /* all threads of all members of the joint launch have passed a set barrier */
bool td_watch_on(void);
bool td_watch_built(void); /* this build has one */

#endif
