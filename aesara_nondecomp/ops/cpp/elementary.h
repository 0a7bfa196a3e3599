/* Elementary functions for loops over many numbers, written out so that the compiler can vectorise them. libm's are a
   call per number, and take longer than the products of a layer. Only float32 is written out, from the polynomials of
   Cephes (Moshier) where nothing else is said, to within 3e-7 of the value; float64 keeps libm's last digits. NaN is
   passed on. */
#ifndef AESARA_NONDECOMP_ELEMENTARY_H
#define AESARA_NONDECOMP_ELEMENTARY_H

#include "arrays.h"

static inline double exponential(double x) { return exp(x); }
static inline float exponential(float x) {
    x = x > 88.0f ? 88.0f : x;
    x = x < -87.0f ? -87.0f : x;
    const float shifted = x * 1.44269504f + 12582912.0f; /* rounds to a whole number, in the lowest bits */
    const float whole = shifted - 12582912.0f;
    const float r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
    float e = 1.9875691500e-4f;
    e = e * r + 1.3981999507e-3f;
    e = e * r + 8.3334519073e-3f;
    e = e * r + 4.1665795894e-2f;
    e = e * r + 1.6666665459e-1f;
    e = e * r + 5.0000001201e-1f;
    e = e * r * r + r + 1.0f;
    npy_uint32 bits; /* unsigned, since the upper ones are shifted out */
    memcpy(&bits, &shifted, 4);
    bits = (bits + 127) << 23; /* 2 to that whole number */
    float power;
    memcpy(&power, &bits, 4);
    return e * power;
}

static inline double hyperbolic_tangent(double x) { return tanh(x); }
static inline float hyperbolic_tangent(float x) {
    const float far = 2.0f / (1.0f + exponential(-2.0f * x)) - 1.0f, square = x * x;
    float near = -5.70498872745e-3f;
    near = near * square + 2.06390887954e-2f;
    near = near * square - 5.37397155531e-2f;
    near = near * square + 1.33314422036e-1f;
    near = near * square - 3.33332819422e-1f;
    near = near * square * x + x;
    return square < 0.39f ? near : far; /* near 0 the difference would lose digits */
}

template <typename number> static inline number logistic(number x) { return 1 / (1 + exponential(-x)); }

/* log(1 + x) of x in [0, 1] */
static inline double log_one_plus(double x) { return log1p(x); }
static inline float log_one_plus(float x) {
    const float w = x / (2.0f + x), square = w * w; /* twice the inverse hyperbolic tangent of w: its series */
    float sum = 1.0f / 13.0f;
    sum = sum * square + 1.0f / 11.0f;
    sum = sum * square + 1.0f / 9.0f;
    sum = sum * square + 1.0f / 7.0f;
    sum = sum * square + 1.0f / 5.0f;
    sum = sum * square + 1.0f / 3.0f;
    return 2.0f * w * (sum * square + 1.0f);
}

/* log(1 + x) of any finite x from 0 on: with 1 + x = 2^e m, m within a factor sqrt(2) of 1, as the series of log m. */
static inline double log_one_plus_any(double x) { return log1p(x); }
static inline float log_one_plus_any(float x) {
    const float above = 1.0f + x;
    npy_int32 bits;
    memcpy(&bits, &above, 4);
    bits -= 0x3f3504f3; /* sqrt(1/2), below which the next power of 2 begins */
    const npy_int32 whole = bits >> 23;
    bits = (bits & 0x007fffff) + 0x3f3504f3;
    float m;
    memcpy(&m, &bits, 4);
    const float near = x / (2.0f + x), far = (m - 1.0f) / (m + 1.0f); /* near 0, 1 + x would lose digits */
    const float w = whole == 0 ? near : far, square = w * w;
    float sum = 1.0f / 9.0f;
    sum = sum * square + 1.0f / 7.0f;
    sum = sum * square + 1.0f / 5.0f;
    sum = sum * square + 1.0f / 3.0f;
    const float log = 2.0f * w * (sum * square + 1.0f) + 0.69314718f * (float) whole;
    return x == x ? log : x;
}

/* Cosine and sine of 2 pi x, by minimax polynomials of our own. In turns the reduction is exact: whole half turns
   change the sign, and a quarter of a turn at most is left. |x| < 1e6, beyond which float32 has no digits behind the
   point. */
struct HalfTurns {
    float rest;
    npy_uint32 sign;
    explicit HalfTurns(float x) {
        const float shifted = 2.0f * x + 12582912.0f; /* rounds to a whole number, in the lowest bits */
        npy_uint32 bits;
        memcpy(&bits, &shifted, 4);
        rest = x - 0.5f * (shifted - 12582912.0f);
        sign = bits << 31;
    }
    float with_sign(float value) const {
        npy_uint32 bits;
        memcpy(&bits, &value, 4);
        bits ^= sign;
        memcpy(&value, &bits, 4);
        return value;
    }
};

static inline double cosine_of_turns(double x) { return cos(6.283185307179586 * (x - rint(x))); }
static inline float cosine_of_turns(float x) {
    const HalfTurns turns(x);
    const float square = turns.rest * turns.rest;
    float sum = 5.624247527e+1f;
    sum = sum * square - 8.524034382e+1f;
    sum = sum * square + 6.493459127e+1f;
    sum = sum * square - 1.973917145e+1f;
    return turns.with_sign(sum * square + 9.999999535e-1f);
}

static inline double sine_of_turns(double x) { return sin(6.283185307179586 * (x - rint(x))); }
static inline float sine_of_turns(float x) {
    const HalfTurns turns(x);
    const float square = turns.rest * turns.rest;
    float sum = 3.953670392e+1f;
    sum = sum * square - 7.654978205e+1f;
    sum = sum * square + 8.160100407e+1f;
    sum = sum * square - 4.134165503e+1f;
    return turns.with_sign(turns.rest * (sum * square + 6.283185160f));
}

#endif
