package alerts

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// MaxWait is the longest that a call may wait for alerts: shorter than the usual client timeouts.
const MaxWait = 55 * time.Second

// ListInput says which alerts are listed.
type ListInput struct {
	Severity alert.Severity // only alerts at least as severe; "": all
	Past     bool           // also those that recovered lately
	Wait     time.Duration  // until there is one, or, with Since, until something changes; 0: not at all
	Since    ledger.Position
}

// List is the alerts and the silences of a workspace.
type List struct {
	Alerts   []Alert         `json:"alerts" doc:"The most severe first, then the newest."`
	Silences []Silence       `json:"silences" doc:"Those that have not ended, the oldest first."`
	Position ledger.Position `json:"position" doc:"Of the entry that changed them last; a call with wait and this as since waits for the next."`
}

// At returns the position up to which the answer is true.
func (l List) At() ledger.Position { return l.Position }

// List lists the alerts that are raised. It is for principals that may read anything.
func (as *Alerts) List(ctx context.Context, c caller.Caller, in ListInput) (List, error) {
	out, err := as.await(ctx, c, in)
	if err != nil {
		return List{}, as.access.Refused(ctx, c.Workspace, c.Actor(), "list-alerts", "", err)
	}
	return out, nil
}

// errChanged ends following the record.
var errChanged = errors.New("the alerts have changed")

func (as *Alerts) await(ctx context.Context, c caller.Caller, in ListInput) (List, error) {
	if err := c.May(identity.ReadAny, "list alerts"); err != nil {
		return List{}, err
	}
	if in.Severity != "" && !alert.Severities.Has(in.Severity) {
		return List{}, refusal.New(refusal.Invalid, "use info, warning or critical", "%.40q is not a severity", in.Severity)
	}
	if in.Wait < 0 || in.Wait > MaxWait {
		return List{}, refusal.New(refusal.Invalid, "use 0s to 55s and call again when it is over", "a wait of %s is out of range", in.Wait).With("field", "wait")
	}
	over, cancel := context.WithTimeout(ctx, in.Wait)
	defer cancel()
	for {
		last, err := as.ledger.Last(ctx)
		if err != nil {
			return List{}, stream.Unavailable(err)
		}
		f, err := as.kind.Load(ctx, StreamOf(c.Workspace), true)
		if err != nil {
			return List{}, err
		}
		out := as.list(c.Workspace, &f.State, in, f.Head)
		if in.Since == 0 && len(out.Alerts) > 0 || in.Since > 0 && f.Head > in.Since || over.Err() != nil {
			return out, ctx.Err()
		}
		err = as.ledger.Follow(over, last, func(entries []ledger.Entry) error {
			for i := range entries {
				if entries[i].Stream == StreamOf(c.Workspace) {
					return errChanged
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errChanged) && over.Err() == nil {
			return List{}, stream.Unavailable(err)
		}
	}
}

func (as *Alerts) list(workspace string, s *alert.State, in ListInput, at ledger.Position) List {
	out := List{Alerts: []Alert{}, Silences: []Silence{}, Position: at}
	all := s.Alerts
	if in.Past {
		all = slices.Concat(all, s.Past)
	}
	for _, a := range all {
		if in.Severity == "" || alert.Severities.Index(a.Severity) >= alert.Severities.Index(in.Severity) {
			out.Alerts = append(out.Alerts, as.of(workspace, s, a))
		}
	}
	slices.SortStableFunc(out.Alerts, func(a, b Alert) int {
		return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(alert.Severities.Index(b.Severity), alert.Severities.Index(a.Severity)), b.Raised.Compare(*a.Raised))
	})
	for i := range s.Silences {
		out.Silences = append(out.Silences, *silence(&s.Silences[i]))
	}
	return out
}

// Show shows an alert: as it is raised, or was lately, or as it is defined. It is for principals that may read anything.
func (as *Alerts) Show(ctx context.Context, c caller.Caller, id string) (Alert, error) {
	out, err := as.show(ctx, c, id)
	if err != nil {
		return Alert{}, as.access.Refused(ctx, c.Workspace, c.Actor(), "show-alert", id, err)
	}
	return out, nil
}

func (as *Alerts) show(ctx context.Context, c caller.Caller, id string) (Alert, error) {
	if err := c.May(identity.ReadAny, "show an alert"); err != nil {
		return Alert{}, err
	}
	key, err := alert.ParseID(id)
	if err != nil {
		return Alert{}, err
	}
	f, err := as.kind.Load(ctx, StreamOf(c.Workspace), true)
	if err != nil {
		return Alert{}, err
	}
	if a, ok := f.State.Find(key); ok {
		return as.of(c.Workspace, &f.State, a), nil
	}
	if i := slices.IndexFunc(f.State.Past, func(a alert.Alert) bool { return a.Key == key }); i >= 0 {
		return as.of(c.Workspace, &f.State, f.State.Past[i]), nil
	}
	if err := as.checkAgent(ctx, c.Workspace, key); err != nil {
		return Alert{}, err
	}
	list, _, err := as.InForce(ctx, c.Workspace)
	if err != nil {
		return Alert{}, err
	}
	if i := slices.IndexFunc(list, func(d alert.Definition) bool { return d.Name == key.Name }); i >= 0 {
		out := Describe(list[i], key, nil)
		out.Silence = silence(f.State.SilencedAt(key, as.now()))
		return out, nil
	}
	d, _ := alert.Find(key.Name)
	out := Describe(d, key, nil)
	out.State = Off
	return out, nil
}
