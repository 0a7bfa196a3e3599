/* The same module for processors with AVX2 and FMA, for which setup.py compiles it. */
#define MODULE_NAME _library_avx2
#include "library.cpp"
