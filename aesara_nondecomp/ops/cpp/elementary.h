/* Elementary functions for loops over many numbers, written out so that the compiler can vectorise them. libm's are a
   call per number, and take longer than the products of a layer. Only float32 is written out, from the polynomials of
   Cephes (Moshier), to within 3e-7 of the value; float64 keeps libm's last digits. NaN is passed on. */
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

#endif
