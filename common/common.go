// SPDX-License-Identifier: Apache-2.0

// Package common holds the definition of the wire and its golden packets, as files.
//
// Other languages read the files; Go code that checks itself against them imports this package. That also
// makes Go's build cache see them: it does not look at C files of other folders, so that without the import
// an edit of robot_link.h would leave compiled C code, and test results, as they were.
package common

import _ "embed"

// Header is robot_link.h, the single definition of the wire.
//
//go:embed robot_link.h
var Header string

// Packets is vectors/packets.txt: golden packets with the value of each field. The file says how to read it.
//
//go:embed vectors/packets.txt
var Packets string

// Checks is vectors/checks.txt: datagrams, most of them bad, with the verdict that a receiver must reach. The file
// says how to read it.
//
//go:embed vectors/checks.txt
var Checks string
