/* How fast bytes get from one device to another and to the host, measured by copies. */
#ifndef TD_DEVICE_LINKS_H
#define TD_DEVICE_LINKS_H

#include "device/device.h"

typedef struct td_measured_link {
    double rate;    /* bytes per second of a large copy; 0: there is no way */
    double latency; /* seconds of a small copy, of several one behind the other */
    bool direct;    /* kernels may follow the other's pointers */
    bool same_memory;
} td_measured_link;

/* All pairs of the GPUs of a list and the host. Place 0 is the host, place i the GPU i - 1 of the list; the cpu device is
 * the host. */
typedef struct td_link_matrix {
    int count;      /* places */
    char (*names)[48];
    td_measured_link *links; /* [from * count + to] */
} td_link_matrix;

/* By the device's clock: of emulated devices, in virtual time. Nothing else runs on them meanwhile. */
td_status td_links_measure(td_device *first, td_link_matrix *out);
void td_links_free(td_link_matrix *matrix);

static inline const td_measured_link *td_links_at(const td_link_matrix *m, int from, int to)
{
    return &m->links[from * m->count + to];
}

#endif
