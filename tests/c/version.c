/* The library must report the version of its header. */
#include "check.h"
#include <aside_unstable.h>

int main(void)
{
    CHECK(strcmp(aside_version(), ASIDE_VERSION) == 0);
    ASIDE_VERSION_SYMBOL();
    aside_version_0_1_0();
    CHECK(aside_abi_version() == ASIDE_ABI_VERSION);
    CHECK(aside_unstable_version() == 1);
    return 0;
}
