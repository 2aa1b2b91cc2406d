/* Three-figure codes in C: the algorithm of kernels/_figures_codes.py with its tables. */
#include <math.h>
#include <stdint.h>
#include <string.h>

static inline int64_t bits_of(double x) {
    int64_t b;
    memcpy(&b, &x, 8);
    return b;
}

static inline double double_of(int64_t b) {
    double x;
    memcpy(&x, &b, 8);
    return x;
}

void codes3(const double *restrict x, int64_t n, const double *restrict high, const double *restrict low,
            int threads, int64_t *restrict out) {
    const double magic = 0x1.8p52, snap = 0x1p-80;
#pragma omp parallel for simd num_threads(threads)
    for (int64_t i = 0; i < n; i++) {
        int64_t magnitude = bits_of(x[i]) & INT64_MAX;
        int small = magnitude < (1ll << 52);
        int64_t bits = small ? bits_of(double_of(magnitude) * 0x1p54) : magnitude;
        int64_t b = (bits >> 52) - (small ? 1077 : 1023);
        double m = double_of((bits & ((1ll << 52) - 1)) | (1023ll << 52));
        double product = m * high[b + 1074], whole = product + magic;
        double rest = (product - (whole - magic)) + (fma(m, high[b + 1074], -product) + m * low[b + 1074]);
        int64_t quarter = 2 * (bits_of(whole) - bits_of(magic)) + (rest > snap) - (rest < -snap);
        int beyond = quarter >= 4000;
        int64_t factor = beyond ? 6710887 : 67108864, half = (beyond ? 20 : 2) - 1;
        int64_t odd = ((quarter * factor) >> 28) & 1, digits = ((quarter + half + odd) * factor) >> 28;
        int64_t decade = ((b * 315653) >> 20) + 400 + beyond;
        int carry = digits == 1000;
        int64_t code = ((decade + carry) << 10) | (carry ? 100 : digits);
        code = bits_of(x[i]) < 0 ? -code : code;
        out[i] = magnitude != 0 && magnitude < (2047ll << 52) ? code : 0;
    }
}
