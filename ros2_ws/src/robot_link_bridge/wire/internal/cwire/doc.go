// SPDX-License-Identifier: Apache-2.0

// Package cwire packs and unpacks packets with the structs of common/robot_link.h themselves, as a C compiler
// lays them out. It is for the tests of package wire only; without cgo it is empty.
//
// It imports robot_link/common, which embeds the header: that is what makes go build and go test notice that the
// header changed.
package cwire
