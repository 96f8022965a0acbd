//go:build slow

package server

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// TestACountThatWasFalseWhenItWasRecordedIsNamed has a server that says that a workspace has fewer entries than it has.
func TestACountThatWasFalseWhenItWasRecordedIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	paid(t, s)
	exported(t, owner(t, s), "")
	lie := ledger.Entry{
		Stream: "default/access/admin:local", Time: time.Unix(0, 0).UTC(), Actor: ledger.Actor{Principal: "admin/local"},
		Events: []ledger.Event{{Name: access.Exported{}.EventName(), Version: 1, Data: []byte(`{"what":"everything","format":"proof","counted":{"of":"default","through":7,"entries":1,"root":"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}}`)}},
	}
	at, err := s.log.Append(t.Context(), lie, ledger.Any)
	if err != nil {
		t.Fatal(err)
	}
	stop(t, s) // it has signed that
	if found := verified(t, dir); len(found) != 1 || found[0].Position != at || !strings.Contains(found[0].What, "is said to have 1 entries of default up to position 7") {
		t.Errorf("of a count that is false, at %d: %v", at, found)
	}
}
