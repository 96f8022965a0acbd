//go:build outside && !linux

package scenario

import "testing"

// disk is a file system whose power can be cut, on Linux.
type disk struct{}

func newDisk(t testing.TB, _ string) *disk {
	t.Helper()
	t.Log("without disks whose power is cut: this is not Linux")
	return nil
}

func (*disk) off()  {}
func (*disk) on()   {}
func (*disk) sync() {}

func (*disk) fill() (release func()) { return func() {} }
