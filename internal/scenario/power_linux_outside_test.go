//go:build outside && linux

package scenario

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// disk is a file system in a file, whose power can be cut: what was not synced is gone, as far as a machine without its power can show that.
type disk struct {
	testing.TB
	image, dir string
}

// diskSize is the size of a disk, in bytes, of which only what is written takes space. PostgreSQL keeps up to 1 GiB of its write-ahead log.
const diskSize = 3 << 30

// newDisk mounts a new file system at a directory. Nil: this user may not, and no power is cut.
func newDisk(t testing.TB, dir string) *disk {
	t.Helper()
	d := &disk{TB: t, image: filepath.Join(t.TempDir(), "disk"), dir: dir}
	f, err := os.Create(d.image)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(diskSize), f.Close()); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"mkfs.ext4", "-q", "-E", "lazy_itable_init=1,lazy_journal_init=1", d.image},
		{"mount", "-o", "loop", d.image, dir},
	} {
		out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput() //nolint:gosec // ours
		if err != nil {
			t.Logf("without disks whose power is cut: %v: %v: %s", args, err, out)
			return nil
		}
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return d
}

// shutdown is EXT4_IOC_SHUTDOWN, and noLogFlush EXT4_GOING_FLAGS_NOLOGFLUSH: nothing is written from now on, not even what is in the journal in memory.
const (
	shutdown    = 0x8004587d
	noLogFlush  = 2
	unmountPoll = 5 * time.Millisecond
)

// off cuts the power. The programs that use the disk must be killed then.
func (d *disk) off() {
	if d == nil {
		return
	}
	d.Helper()
	f, err := os.Open(d.dir)
	if err != nil {
		d.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	how := uint32(noLogFlush)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), shutdown, uintptr(unsafe.Pointer(&how))); errno != 0 {
		d.Fatalf("the power of %s is not cut: %v", d.dir, errno)
	}
}

// on mounts the disk again, which recovers its journal.
func (d *disk) on() {
	if d == nil {
		return
	}
	d.Helper()
	for end := time.Now().Add(patience); ; <-time.After(unmountPoll) { // of a killed program, files may be open for a moment
		err := syscall.Unmount(d.dir, 0)
		if err == nil {
			break
		}
		if time.Now().After(end) {
			d.Fatalf("unmount: %v", err)
		}
	}
	if out, err := exec.CommandContext(d.Context(), "mount", "-o", "loop", d.image, d.dir).CombinedOutput(); err != nil { //nolint:gosec // ours
		d.Fatalf("mount: %v: %s", err, out)
	}
}

// fill takes all space that is left.
func (d *disk) fill() (release func()) {
	d.Helper()
	f, err := os.Create(filepath.Join(d.dir, "ballast"))
	if err != nil {
		d.Fatal(err)
	}
	at := int64(0)
	for n := int64(diskSize); n >= 512; {
		switch err := syscall.Fallocate(int(f.Fd()), 0, at, n); {
		case err == nil:
			at += n
		case errors.Is(err, syscall.ENOSPC):
			n /= 2
		case !errors.Is(err, syscall.EINTR):
			d.Fatal(err)
		}
	}
	return func() {
		d.Helper()
		if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
			d.Error(err)
		}
		d.sync() // or the next loss of power fills it again
	}
}

// sync writes what programs have not.
func (d *disk) sync() {
	if d == nil {
		return
	}
	d.Helper()
	if out, err := exec.CommandContext(d.Context(), "sync", "-f", d.dir).CombinedOutput(); err != nil { //nolint:gosec // ours
		d.Fatalf("sync: %v: %s", err, out)
	}
}
