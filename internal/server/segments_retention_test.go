package server

import (
	"os"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
)

func TestAFrontEndOfASharedRecordPutsNothingAway(t *testing.T) {
	t.Parallel()
	for _, kind := range sharedrecord.Kinds {
		dir := t.TempDir()
		if err := os.WriteFile(sharedrecord.FollowFile(dir, kind), []byte("r1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := PutAway(t.Context(), dir, beforeLong())
		r, ok := refusal.As(err)
		if !ok || r.Code != refusal.Conflict || !strings.Contains(r.Hint, "trapeze backup and trapeze restore") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
