/* Arithmetic without denormal numbers. Once the rows of a set are fitted, gradients and Adam's moments sink below
   1e-38, where x86 takes some hundred cycles for each operation: steps then run three to four times slower. Other
   processors mind less, and are left alone. */
#ifndef AESARA_NONDECOMP_DENORMALS_H
#define AESARA_NONDECOMP_DENORMALS_H

#ifdef __SSE__
#include <xmmintrin.h>
/* Denormal numbers are read and written as 0 in this scope; threads started within it inherit the setting. */
struct FlushToZero {
    unsigned int before;
    FlushToZero() : before(_mm_getcsr()) { _mm_setcsr(before | 0x8040); }
    ~FlushToZero() { _mm_setcsr(before); }
};
#else
struct FlushToZero {
    FlushToZero() {}
};
#endif

#endif
