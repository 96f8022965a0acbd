//go:build slow

package frame

import (
	"bytes"
	"testing"
)

func TestAChangedFrameOfALargeEntryIsNoticed(t *testing.T) {
	changedFrame(t, bytes.Repeat(usual(t), 30))
}
