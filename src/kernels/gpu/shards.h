/* Pull by shards (Garaph, section 3): a block holds the accumulators of consecutive vertices in shared memory,
 * `copies` of each, so that atomics on the same vertex collide less often. An edge names its vertex by 16 bits,
 * relative to the shard's first. */

TD_DEVICE void gather_shard(const td_shard_args *a, const td_context *c, const td_gpu_shard *shard, uint32_t side,
                            program_accum *accums)
{
    uint32_t copy = td_thread() % shard->copies;
    td_gpu_list list = a->list[side];
    const uint16_t *vertices = a->targets[side];
    for (uint64_t e = shard->begin[side] + td_thread(); e < shard->end[side]; e += td_threads()) {
        uint32_t u = TD_READ_ONLY(&list.targets[e]);
        program_accum more = gathered(&a->state, c, list.weights, u, message_of(&a->state, u), e);
        accumulate(&accums[vertices[e] * shard->copies + copy], more);
    }
}

TD_KERNEL(pull_shards, td_shard_args)
{
    const td_context c = kernel_context(&a.state);
    pull_sums sums = {0, 0, 0, 0};
    TD_SHARED_DYNAMIC(program_accum, accums);
    for (uint32_t s = td_block(); s < a.count; s += td_blocks()) {
        td_gpu_shard shard = a.shards[s];
        for (uint32_t i = td_thread(); i < shard.count * shard.copies; i += td_threads()) accums[i] = program_zero(&c);
        TD_BARRIER();
        gather_shard(&a, &c, &shard, 0, accums);
        gather_shard(&a, &c, &shard, 1, accums);
        for (uint32_t half = shard.copies / 2; half > 0; half /= 2) {
            TD_BARRIER();
            for (uint32_t i = td_thread(); i < shard.count * half; i += td_threads()) {
                program_accum *pair = &accums[i / half * shard.copies + i % half];
                pair[0] = program_sum(pair[0], pair[half]);
            }
        }
        TD_BARRIER();
        for (uint32_t i = td_thread(); i < shard.count; i += td_threads())
            finish(&a.state, &c, shard.first + i, accums[i * shard.copies], &sums);
        TD_BARRIER();
    }
    add_sums(&a.state, &sums);
}
