//go:build slow || outside

package scenario

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestFiguresAreEqualAfterARestart(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h, stop := reopen(t, dir)
		h.mixed()
		h.settle()
		before := h.figures()
		stop()
		time.Sleep(time.Minute)
		h, stop = reopen(t, dir)
		defer stop()
		after := h.figures()
		if len(before) < 20 || !reflect.DeepEqual(before, after) {
			t.Errorf("before:\n%s\nafter:\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
		}
	})
}
