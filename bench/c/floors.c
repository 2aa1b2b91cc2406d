/* The mode floor's inner loop in C: the algorithm and the random words of kernels/_floors_halves.py,
   line by line, so that the results must be equal. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LANES 256
#define GOLDEN 0x9E3779B97F4A7C15ull
#define OFFSET 0xD1B54A32D192ED03ull
#define STREAM 1ull

static inline uint64_t mix(uint64_t s) {
    s = (s ^ (s >> 30)) * 0xBF58476D1CE4E5B9ull;
    s = (s ^ (s >> 27)) * 0x94D049BB133111EBull;
    return s ^ (s >> 31);
}

static inline uint64_t key_of(uint64_t seed, uint64_t resample) {
    uint64_t s = mix(seed + OFFSET);
    s = mix(s ^ (STREAM * GOLDEN + OFFSET));
    return mix(s ^ (resample * GOLDEN + OFFSET));
}

static inline uint64_t word_of(uint64_t key, uint64_t draw) { return mix(key ^ (draw * GOLDEN)); }

static void even_out(uint64_t *halves, int lane, uint64_t chain, uint64_t n, int64_t surplus) {
    uint64_t wanted = surplus > 0;
    int64_t left = surplus > 0 ? surplus : -surplus;
    for (uint64_t step = 0; left > 0; step++) {
        uint64_t drawn = word_of(chain, step);
        uint64_t positions[2] = {((drawn >> 32) * n) >> 32, ((drawn & 0xFFFFFFFFull) * n) >> 32};
        for (int i = 0; i < 2; i++) {
            uint64_t *at = halves + (positions[i] >> 6) * LANES + lane;
            uint64_t shift = positions[i] & 63;
            uint64_t hit = (((*at >> shift) & 1) == wanted) & (left > 0);
            *at ^= hit << shift;
            left -= hit;
        }
    }
}

typedef struct {
    const uint32_t *masks;       /* all 16-bit numbers by population count, then by size */
    const int64_t *weight_start; /* [17] */
    const int64_t *binomial;     /* [17][17] */
    const int64_t *split;        /* [33][17] */
} tables;

static void draw_small(uint64_t *restrict halves, const uint64_t *restrict keys, int64_t n, int64_t half,
                       uint64_t draw, const tables *t) {
    uint64_t total = t->binomial[n * 17 + half];
    const uint32_t *list = t->masks + t->weight_start[half];
    for (int lane = 0; lane < LANES; lane++)
        halves[lane] = list[((word_of(keys[lane], draw) >> 32) * total) >> 32];
}

static void draw_double(uint64_t *restrict halves, const uint64_t *restrict keys, int64_t n, int64_t half,
                        uint64_t draw, const tables *t) {
    int64_t least = half - (n - 16) > 0 ? half - (n - 16) : 0, most = half < 16 ? half : 16;
    int64_t drawn[LANES], weight[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        drawn[lane] = (int64_t)(word_of(keys[lane], draw) >> 1);
        weight[lane] = least;
    }
    for (int64_t w = least; w < most; w++) {
        int64_t limit = t->split[n * 17 + w];
        for (int lane = 0; lane < LANES; lane++) weight[lane] += drawn[lane] >= limit;
    }
    for (int lane = 0; lane < LANES; lane++) {
        uint64_t parts = word_of(keys[lane], draw + 1);
        int64_t low = weight[lane], high = half - low;
        uint64_t first = ((parts >> 32) * (uint64_t)t->binomial[16 * 17 + low]) >> 32;
        uint64_t second = ((parts & 0xFFFFFFFFull) * (uint64_t)t->binomial[(n - 16) * 17 + high]) >> 32;
        halves[lane] = t->masks[t->weight_start[low] + first]
                       | (uint64_t)t->masks[t->weight_start[high] + second] << 16;
    }
}

static void draw_large(uint64_t *restrict halves, const uint64_t *restrict keys, int64_t n, int64_t half,
                       uint64_t draw) {
    int64_t words = (n + 63) / 64, bits[LANES];
    for (int lane = 0; lane < LANES; lane++) bits[lane] = -half;
    for (int64_t w = 0; w < words; w++) {
        int64_t used = n - w * 64 < 64 ? n - w * 64 : 64;
        uint64_t limit = ~0ull >> (64 - used);
        for (int lane = 0; lane < LANES; lane++) {
            uint64_t drawn = word_of(keys[lane], draw + w) & limit;
            halves[w * LANES + lane] = drawn;
            bits[lane] += __builtin_popcountll(drawn);
        }
    }
    for (int lane = 0; lane < LANES; lane++)
        if (bits[lane] != 0) even_out(halves, lane, word_of(keys[lane], draw + words), n, bits[lane]);
}

/* tied holds the labels of the tied continuations and, in its low 16 bits, how many those are. */
static void score(const uint64_t *restrict halves, double *restrict hits, const int64_t *restrict label_count,
                  const int64_t *restrict first_segment, const int64_t *restrict segment_word,
                  const uint64_t *restrict segment_mask, int64_t first, int64_t last) {
    int64_t learned[LANES], best[LANES] = {0}, tied[LANES] = {0};
    for (int64_t c = first; c < last; c++) {
        memset(learned, 0, sizeof learned);
        for (int64_t s = first_segment[c]; s < first_segment[c + 1]; s++) {
            const uint64_t *words = halves + segment_word[s] * LANES;
            for (int lane = 0; lane < LANES; lane++)
                learned[lane] += __builtin_popcountll(words[lane] & segment_mask[s]);
        }
        int64_t one = (label_count[c] << 16) + 1;
        for (int lane = 0; lane < LANES; lane++) {
            int64_t kept = learned[lane] <= best[lane] ? tied[lane] : 0;
            tied[lane] = kept + (learned[lane] >= best[lane] ? one : 0);
            best[lane] = learned[lane] > best[lane] ? learned[lane] : best[lane];
        }
    }
    for (int lane = 0; lane < LANES; lane++)
        hits[lane] += (double)(tied[lane] >> 16) / (double)(tied[lane] & 0xFFFF) - (double)best[lane];
}

void mode_hits(int64_t groups, const int64_t *size, const int64_t *half, const int64_t *draw,
               const int64_t *first_continuation, const int64_t *label_count, const int64_t *first_segment,
               const int64_t *segment_word, const uint64_t *segment_mask, const uint32_t *masks,
               const int64_t *weight_start, const int64_t *binomial, const int64_t *split, int64_t seed,
               int64_t first_draw, int64_t first, int64_t repeats, int threads, double *out) {
    tables t = {masks, weight_start, binomial, split};
    int64_t largest = 0;
    for (int64_t g = 0; g < groups; g++) largest = size[g] > largest ? size[g] : largest;
#pragma omp parallel num_threads(threads)
    {
        uint64_t *halves = malloc((size_t)((largest + 63) / 64) * LANES * sizeof *halves);
#pragma omp for
        for (int64_t block = 0; block < (repeats + LANES - 1) / LANES; block++) {
            uint64_t keys[LANES];
            double hits[LANES] = {0};
            for (int lane = 0; lane < LANES; lane++) keys[lane] = key_of(seed, first + block * LANES + lane);
            for (int64_t g = 0; g < groups; g++) {
                uint64_t d = first_draw + draw[g];
                if (size[g] <= 16)
                    draw_small(halves, keys, size[g], half[g], d, &t);
                else if (size[g] <= 32)
                    draw_double(halves, keys, size[g], half[g], d, &t);
                else
                    draw_large(halves, keys, size[g], half[g], d);
                score(halves, hits, label_count, first_segment, segment_word, segment_mask,
                      first_continuation[g], first_continuation[g + 1]);
            }
            for (int lane = 0; lane < LANES && block * LANES + lane < repeats; lane++)
                out[block * LANES + lane] = hits[lane];
        }
        free(halves);
    }
}
