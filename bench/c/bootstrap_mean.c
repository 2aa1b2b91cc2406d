/* Bootstrap of a mean in C: the inner loop of kernels/_bootstrap_draws.py, the same words and order of sums. */
#include <stdint.h>

#define PIECE 2048

static const uint64_t golden = 0x9E3779B97F4A7C15, offset = 0xD1B54A32D192ED03;

static inline uint64_t mix(uint64_t state) {
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9;
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB;
    return state ^ (state >> 31);
}

void bootstrap_mean(const double *restrict values, int64_t n, int64_t seed, int64_t stream, int64_t resamples,
                    int threads, double *restrict out) {
    const uint64_t start = mix(mix((uint64_t)seed + offset) ^ ((uint64_t)stream * golden + offset));
    const uint64_t size = (uint64_t)n;
#pragma omp parallel for num_threads(threads)
    for (int64_t r = 0; r < resamples; r++) {
        uint64_t key = mix(start ^ ((uint64_t)r * golden + offset));
        double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
        uint32_t indices[PIECE + 1];
        for (int64_t start = 0; start < n; start += PIECE) {
            int64_t drawn = n - start < PIECE ? n - start : PIECE, i;
            for (int64_t pair = 0; pair < (drawn + 1) / 2; pair++) {
                uint64_t bits = mix(key ^ ((uint64_t)(start / 2 + pair) * golden));
                indices[2 * pair] = (uint32_t)(((bits >> 32) * size) >> 32);
                indices[2 * pair + 1] = (uint32_t)(((bits & 0xFFFFFFFF) * size) >> 32);
            }
            for (i = 0; i + 4 <= drawn; i += 4) {
                a += values[indices[i]];
                b += values[indices[i + 1]];
                c += values[indices[i + 2]];
                d += values[indices[i + 3]];
            }
            for (; i < drawn; i++)
                a += values[indices[i]];
        }
        out[r] = ((a + b) + (c + d)) / (double)n;
    }
}
