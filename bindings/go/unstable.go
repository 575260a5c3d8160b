package aside

// #include "bridge.h"
import "C"

import "fmt"

// unstableVersion is the version of aside_unstable.h that this package was written for.
const unstableVersion = 1

// In a library with a different version, functions of the same names may behave differently, so the program ends before it can call
// them.
func init() {
	if version := C.aside_unstable_version(); version != unstableVersion {
		panic(fmt.Sprintf("aside: the library has version %d of aside_unstable.h; this package needs %d", version, unstableVersion))
	}
}
