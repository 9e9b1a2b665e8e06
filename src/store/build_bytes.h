/* How much memory building a graph takes, estimated from the file or from the number of edges. */
#ifndef TD_STORE_BUILD_BYTES_H
#define TD_STORE_BUILD_BYTES_H

#include "store/builder.h"
#include "store/formats/format.h"
#include "store/packed.h"

/* The approximate peak memory of the builder, and with the buffers of so many threads. */
double td_inside_bytes(uint64_t vertices, uint64_t edges, bool weighted, const td_build_options *build);
double td_inside_rebuilt(const td_packed_info *info, const td_build_options *build); /* of a packed file's graph */
double td_inside_with_buffers(double inside_bytes, int threads);

/* Upper limit on the edges of a file, from its length and format; UINT64_MAX: its length says nothing, as that of a
 * compressed file. */
uint64_t td_most_edges(const char *path, const td_format *format);

/* The same for a file whose decoder takes so many bytes while edges are read; it is gone when they are built. */
double td_inside_with_decoder(double inside_bytes, uint64_t decoder_bytes);

/* Memory to decompress the file, besides buffers; 0 if it is not compressed. */
uint64_t td_decoder_needs(const char *path);

/* Memory of the builder for a file, measured by reading the file once more in little memory; estimated from its length
 * where that fails. */
double td_inside_measured(const char *path, const td_format *format, const td_build_options *build);

/* TD_NO_MEMORY after reading a file failed; adds the memory needed to message and refusal. */
td_status td_inside_too_small(const char *path, const td_format *format, const td_build_options *build, int threads);

uint64_t td_outside_bytes(int threads); /* minimum of memory to build out of memory, the process included */
uint64_t td_file_bytes(const char *path); /* 0 if there is no such file */

#endif
