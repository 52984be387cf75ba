// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"strconv"
	"strings"
)

// enumName returns the name of v, or v as a decimal number if it has none.
func enumName(names []string, v uint8) string {
	if int(v) < len(names) && names[v] != "" {
		return names[v]
	}
	return strconv.Itoa(int(v))
}

// bitNames returns the names of the set bits, lowest first; a bit without a name is BIT_n. It allocates.
func bitNames(names []string, v uint32) []string {
	var set []string
	for i := 0; v != 0; i, v = i+1, v>>1 {
		switch {
		case v&1 == 0:
		case i < len(names):
			set = append(set, names[i])
		default:
			set = append(set, "BIT_"+strconv.Itoa(i))
		}
	}
	return set
}

// bitString joins bitNames with "|"; no bits are "NONE".
func bitString(names []string, v uint32) string {
	if v == 0 {
		return "NONE"
	}
	return strings.Join(bitNames(names, v), "|")
}
