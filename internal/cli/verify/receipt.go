package verify

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

func readReceipt(name string, keys proof.Keys) (proof.Receipt, error) {
	f, err := os.Open(name) //nolint:gosec // the path is the user's
	if err != nil {
		return proof.Receipt{}, fileError(err)
	}
	r, err := proof.ReadReceipt(f, keys)
	return r, errors.Join(err, f.Close())
}

// shown is how many incomplete streams are listed.
const shown = 20

func showStreams(p *shell.Page, n int, lacking []proof.Incomplete) {
	if n > 0 {
		p.Line("of %d streams, %d have all their entries up to the last one here", n, n-len(lacking))
	}
	for _, s := range lacking[:min(len(lacking), shown)] {
		p.Line("  %s has %d of its first %d entries here", string(s.Stream), s.Has, s.Last)
	}
}

// showExport says whether an export has all that there was to export.
func showExport(p *shell.Page, r proof.Receipt) {
	for _, e := range r.Exports[max(0, len(r.Exports)-1):] {
		if e.Whole {
			p.Line("complete: all %d entries of %s up to position %d are here, by the count in entry %d", e.Entries, e.Of, uint64(e.Through), e.Position)
		} else {
			p.Line("not complete: %d of the %d entries of %s up to position %d are here, by the count in entry %d", e.Has, e.Entries, e.Of, uint64(e.Through), e.Position)
		}
	}
	if n := len(r.Withheld); n > 0 {
		p.Line("%d entries are withheld, of which the hash alone is here: at positions %v", n, r.Withheld[:min(n, shown)])
	}
}

// checkComplete returns an error unless an export has all that there was to export.
func checkComplete(r proof.Receipt) error {
	if n := len(r.Exports); n > 0 && r.Exports[n-1].Whole {
		return nil
	} else if n == 0 {
		return shell.Hinted(errors.New("it does not say how many entries there were"), "an export says so that was made with: trapeze audit export --format proof")
	}
	return shell.Hinted(errors.New("entries were left out"), "get the export again: trapeze audit export --format proof")
}

func showReceipt(p *shell.Page, r proof.Receipt) {
	p.Line("signed by %s, with %d entries", r.Log, r.Size)
	for _, e := range r.Entries {
		p.Line("entry %d is in the record: %s, %s on %s: %s", e.Position, e.Time.Format(time.RFC3339), e.Actor, string(e.Stream), fmt.Sprint(e.Events))
	}
	for _, h := range r.Handoffs {
		p.Line("handoff %s:", h.ID)
		showHandoff(p, h)
	}
}

func showHandoff(p *shell.Page, h proof.Handoff) {
	at := func(t time.Time) string { return t.Format(time.RFC3339) }
	switch {
	case h.Asked.IsZero():
	case h.Recovery:
		p.Line("  %s asked at %s to recover the task of %s, with the envelope %s", h.AskedBy, at(h.Asked), h.From, h.Envelope)
	case h.AskedBy == h.From:
		p.Line("  %s asked at %s, and gave the envelope %s", h.From, at(h.Asked), h.Envelope)
	default:
		p.Line("  %s asked at %s for the task of %s, with the envelope %s", h.AskedBy, at(h.Asked), cmp.Or(h.From, "nobody"), h.Envelope)
	}
	switch {
	case h.Decided.IsZero():
	case h.Denied:
		p.Line("  %s denied it at %s", h.Approver, at(h.Decided))
	default:
		p.Line("  %s approved it at %s, with the envelope %s", h.Approver, at(h.Decided), h.Envelope)
	}
	if !h.Accepted.IsZero() {
		p.Line("  %s accepted at %s", h.To, at(h.Accepted))
	}
	if h.Given != "" && h.Given != h.Envelope {
		p.Line("  %s was given the envelope packed for it, %s", h.To, h.Given)
	}
	if !h.Moved.IsZero() {
		p.Line("  ownership moved to %s at %s, with epoch %d and the envelope %s", h.Owner, at(h.Moved), h.Epoch, h.Holds)
	}
	if !h.Ended.IsZero() {
		p.Line("  it ended at %s without another owner: %s", at(h.Ended), h.Outcome)
	}
}
