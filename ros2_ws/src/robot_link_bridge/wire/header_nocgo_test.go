// SPDX-License-Identifier: Apache-2.0

//go:build !cgo

package wire

import "testing"

func TestHeader(t *testing.T) {
	t.Skip("not compared with robot_link.h by a C compiler, since cgo is off; the golden packets are compared")
}
