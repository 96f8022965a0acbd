package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// obedient nodes do at once what they are told. They know what the record had by then.
type obedient struct {
	k      Known
	did    []string
	before func()
}

func (f *obedient) Known(context.Context) Known { return f.k }

func (f *obedient) do(what, name string) error {
	f.before()
	f.did = append(f.did, what+" "+name)
	return nil
}

func (f *obedient) Drain(_ context.Context, name string, on bool) error {
	for i := range f.k.Members {
		if f.k.Members[i].Name == name {
			f.k.Members[i].Drained = on
		}
	}
	return f.do(map[bool]string{true: "drain", false: "resume"}[on], name)
}
func (f *obedient) Forget(_ context.Context, name string) error { return f.do("forget", name) }
func (f *obedient) Remove(_ context.Context, name string) error { return f.do("remove", name) }

// What an administrator has a node do is recorded before the node does it, with who that was; and is not done if it cannot be recorded.
func TestAnOrderToANodeIsRecordedBeforeItIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boss := caller.Caller{Principal: identity.Principal{Workspace: identity.DefaultWorkspace, Role: identity.Admin, Name: "ada"}}
		open := func(words string) (*Cluster, *obedient, func() []string, *ledgertest.Double) {
			l := ledgertest.NewDouble(ledgertest.Faults{})
			log, err := access.New(l, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			recorded := func() (list []string) {
				all, err := l.Stream(t.Context(), ledger.StreamOf(identity.DefaultWorkspace, access.Kind, "admin:ada"), 0, 100)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range all {
					list = append(list, e.Actor.Principal+" "+e.Events[0].Name+" "+string(e.Events[0].Data))
				}
				return list
			}
			f := &obedient{k: nodes(Nodes, words, "n1", "n2", "n3", "n4"), before: func() {
				if len(recorded()) == 0 {
					t.Error("it is done before it is recorded")
				}
			}}
			return New(f, log), f, recorded, l
		}
		var cl *Cluster
		calls := map[string]func() error{
			"drain-node":  func() error { _, err := cl.Drain(t.Context(), boss, "n4"); return err },
			"resume-node": func() error { _, err := cl.Resume(t.Context(), boss, "n4"); return err },
			"remove-node": func() error { _, err := cl.Remove(t.Context(), boss, "n4"); return err },
		}
		for verb, words := range map[string]string{"drain-node": "n1 n2 n3 n4", "resume-node": "n1 n2 n3 n4=drained", "remove-node": "n1 n2 n3 n4=silent"} {
			var f *obedient
			var recorded func() []string
			cl, f, recorded, _ = open(words)
			if err := calls[verb](); err != nil {
				t.Fatalf("%s: %v", verb, err)
			}
			if want := []string{`admin/ada node-ordered {"verb":"` + verb + `","node":"n4"}`}; !slices.Equal(recorded(), want) || len(f.did) == 0 {
				t.Errorf("%s: recorded %q, done %q", verb, recorded(), f.did)
			}
			var l *ledgertest.Double
			cl, f, _, l = open(words)
			l.Break(errors.New("the disk is full"))
			if err := calls[verb](); refusal.CodeOf(err) != refusal.Unavailable || len(f.did) > 0 {
				t.Errorf("%s, which cannot be recorded: %v, done %q", verb, err, f.did)
			}
		}
		var recorded func() []string
		cl, _, recorded, _ = open("n1 n2 n3 n4")
		if calls["remove-node"]() == nil || strings.Contains(strings.Join(recorded(), ""), "node-ordered") {
			t.Errorf("what is refused is an order: %q", recorded())
		}
	})
}
