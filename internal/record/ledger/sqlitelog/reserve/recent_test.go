package reserve

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheSystemIsNotAskedForEachCommitWhileThereIsPlentyOfSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, is, fails := 0, int64(plenty), error(nil)
		free := Recent(func(string) (int64, error) { asked++; return is, fails })
		look := func(want int64, times int) {
			t.Helper()
			before := asked
			for range 5 {
				if n, err := free(""); n != want || !errors.Is(err, fails) {
					t.Fatalf("%d bytes, %v, want %d", n, err, want)
				}
			}
			if asked-before != times {
				t.Errorf("asked %d times, want %d", asked-before, times)
			}
		}
		look(plenty, 1)
		look(plenty, 0)
		is = plenty - 1
		time.Sleep(recently)
		look(plenty-1, 5)
		is = plenty
		look(plenty, 1)
		fails, is = errors.New("no such directory"), 0
		time.Sleep(recently)
		look(0, 5)
	})
}
