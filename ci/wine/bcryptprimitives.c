/* Wine before 9 has no bcryptprimitives.dll, and every Rust program imports ProcessPrng from it. Used by ci/platforms only. */
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length)
{
    return RtlGenRandom(data, (ULONG)length);
}
