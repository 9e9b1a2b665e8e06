// Sorting and sums through CUB, as C functions. Keys and values are sorted by way of a
// second copy of both at the begin of the room, and copied back if CUB leaves them there.
//
// CUB includes <iostream> for printing that nobody asks for here; the object that header defines would be all that
// Tandem needs the C++ runtime for, so it counts as included already.
#define _GLIBCXX_IOSTREAM 1
#include <ostream>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cstdint>

namespace {

// 32-bit numbers summed up as 64-bit ones; one past the last reads as 0, so that its place gets the total.
struct widened {
    using value_type = uint64_t;
    using difference_type = ptrdiff_t;
    using pointer = const uint64_t *;
    using reference = uint64_t;
    using iterator_category = std::random_access_iterator_tag;

    const uint32_t *numbers;
    uint64_t count;
    uint64_t at;

    __host__ __device__ uint64_t operator*() const { return at < count ? numbers[at] : 0; }
    __host__ __device__ uint64_t operator[](ptrdiff_t i) const { return *(*this + i); }
    __host__ __device__ widened operator+(ptrdiff_t i) const { return widened{numbers, count, at + (uint64_t)i}; }
};

uint64_t aligned(uint64_t bytes) { return (bytes + 255) & ~uint64_t(255); }

cudaError_t sort_temporary(uint64_t count, size_t *bytes)
{
    cub::DoubleBuffer<uint32_t> keys(nullptr, nullptr), values(nullptr, nullptr);
    return cub::DeviceRadixSort::SortPairs(nullptr, *bytes, keys, values, count);
}

cudaError_t copy_back(uint32_t *to, const uint32_t *from, uint64_t count, cudaStream_t stream)
{
    return to == from ? cudaSuccess : cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyDeviceToDevice, stream);
}

} // namespace

extern "C" cudaError_t td_cuda_sort_bytes(uint64_t count, uint64_t *bytes)
{
    size_t temporary = 0;
    cudaError_t error = sort_temporary(count, &temporary);
    *bytes = 2 * aligned(count * sizeof(uint32_t)) + temporary;
    return error;
}

extern "C" cudaError_t td_cuda_sort(uint32_t *keys, uint32_t *values, uint64_t count, void *room, uint64_t room_bytes,
                                    cudaStream_t stream)
{
    const uint64_t copy = aligned(count * sizeof *keys);
    if (count == 0) return cudaSuccess;
    if (room_bytes <= 2 * copy) return cudaErrorInvalidValue;
    char *base = static_cast<char *>(room);
    cub::DoubleBuffer<uint32_t> both_keys(keys, reinterpret_cast<uint32_t *>(base));
    cub::DoubleBuffer<uint32_t> both_values(values, reinterpret_cast<uint32_t *>(base + copy));
    size_t temporary = room_bytes - 2 * copy;
    cudaError_t error = cub::DeviceRadixSort::SortPairs(base + 2 * copy, temporary, both_keys, both_values, count, 0,
                                                        32, stream);
    if (error == cudaSuccess) error = copy_back(keys, both_keys.Current(), count, stream);
    if (error == cudaSuccess) error = copy_back(values, both_values.Current(), count, stream);
    return error;
}

extern "C" cudaError_t td_cuda_scan_bytes(uint64_t count, uint64_t *bytes)
{
    size_t temporary = 0;
    cudaError_t error =
        cub::DeviceScan::ExclusiveSum(nullptr, temporary, widened{nullptr, count, 0}, (uint64_t *)nullptr, count + 1);
    *bytes = temporary;
    return error;
}

extern "C" cudaError_t td_cuda_scan(const uint32_t *in, uint64_t *out, uint64_t count, void *room, uint64_t room_bytes,
                                    cudaStream_t stream)
{
    size_t temporary = room_bytes;
    return cub::DeviceScan::ExclusiveSum(room, temporary, widened{in, count, 0}, out, count + 1, stream);
}
