// Debian's Wine 8 has no bcryptprimitives.dll, from which Rust's standard library takes the random bytes of its hash tables.
#include <stddef.h>

__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *bytes, unsigned long len);

__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *bytes, size_t len)
{
    return SystemFunction036(bytes, (unsigned long)len);
}
