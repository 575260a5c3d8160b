package aside

// #include "bridge.h"
import "C"

import "fmt"

// unstableVersion is the version of aside_unstable.h that this package was written for.
const unstableVersion = 1

// A library of another version may have other functions of the same names: a program must not get as far as to call one.
func init() {
	if version := C.aside_unstable_version(); version != unstableVersion {
		panic(fmt.Sprintf("aside: the library has version %d of aside_unstable.h; this package needs %d", version, unstableVersion))
	}
}
