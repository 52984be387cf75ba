// SPDX-License-Identifier: Apache-2.0

// Package port holds the C files of the simulated board. Package app compiles them into itself, and imports this one so
// that Go's build cache sees an edit of them: it does not look at C files of other folders.
package port

import "embed"

// Sim is sim_board.h and sim_board.c.
//
//go:embed sim/sim_board.h sim/sim_board.c
var Sim embed.FS
