package reserve

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAReserveIsFilledWhereSpaceCannotBeAllocated(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "reserve"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size = 300<<10 + 1
	if err := fillZeros(f, size); err != nil {
		t.Fatal(err)
	}
	if info, err := f.Stat(); err != nil || info.Size() != size {
		t.Errorf("%v, %v", info.Size(), err)
	}
}

func TestAReserveThatCannotBeMadeIsTriedAgainOnceThereIsMoreSpace(t *testing.T) {
	dir := t.TempDir()
	r := File{Path: filepath.Join(dir, "sub", "reserve"), Size: 4096}
	tries := func(free int64) bool {
		before := r.without
		r.Keep(free, 0)
		return r.held || r.without != before
	}
	if !tries(1<<20) || r.held || tries(1<<20) || tries(1<<19) {
		t.Errorf("%+v", r)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if tries(1<<20) || !tries(2<<20) || !r.held {
		t.Errorf("%+v", r)
	}
}
