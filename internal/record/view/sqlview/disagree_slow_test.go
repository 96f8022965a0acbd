//go:build slow

package sqlview

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

// TestRowsThatTheLedgerDoesNotHaveAreNoticed spoils rows of an ended task, an open one, an agent and a token, one at a time, and
// looks at all rows.
func TestRowsThatTheLedgerDoesNotHaveAreNoticed(t *testing.T) {
	for name, spoil := range map[string]string{
		"owner of an ended task":       "UPDATE view_task SET owner = 'eve' WHERE live = 0",
		"ended task is there no more":  "DELETE FROM view_involved WHERE task IN (SELECT id FROM view_task WHERE live = 0) AND agent = 'agent-0'",
		"task that nobody made":        "INSERT INTO view_task SELECT 99, ws, 'task_x', state, live, owner, due, row FROM view_task LIMIT 1",
		"item in a foreign inbox":      "INSERT INTO view_inbox SELECT ws, rest, 'eve', sender, ord, id, item FROM view_inbox",
		"item that is no item":         "INSERT INTO view_inbox VALUES('default', 0, 'eve', 'ann', 1, 'task_x.h1', x'00')",
		"claim that was never offered": "INSERT INTO view_offer SELECT ws, id || '.h1', x'7b7d' FROM view_task",
		"second ticket":                "INSERT INTO view_ticket SELECT ws, id || 'k9', n, id, 'open', 1, '', 'desk', '', '', '', 0, 0, x'' FROM view_task LIMIT 1",
		"foreign agent is involved":    "INSERT INTO view_involved SELECT DISTINCT ws, 'eve', task FROM view_involved",
		"claim that nobody made":       "INSERT INTO view_claim SELECT ws, 'eve', id || '.h1' FROM view_task",
		"agent with another state":     "UPDATE view_agent SET state = x'7b7d'",
		"agent that nobody registered": "INSERT INTO view_agent SELECT ws, 'eve', 0, state FROM view_agent",
		"agent that was removed":       "UPDATE view_agent SET removed = 1",
		"token that nobody made":       "INSERT INTO view_token SELECT ws, 'tok_x', 9, state FROM view_token",
		"token with another state":     "UPDATE view_token SET state = x'7b7d'",
		"agents are there no more":     "DELETE FROM view_agent",
		"token is there no more":       "DELETE FROM view_token",
		"ended task lost its row":      "DELETE FROM view_task WHERE live = 0",
		"nothing":                      "UPDATE view_task SET owner = owner",
	} {
		t.Run(name, func(t *testing.T) {
			log, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
			play(t, log, newLife(), 4)
			at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			appendTo(t, log, "agent", "bob", ledger.NewCodec(agent.Events...), agent.Event(agent.Registered{Name: "bob", At: at}))
			appendTo(t, log, "token", "tok_a", ledger.NewCodec(identity.Events...),
				identity.Event(identity.TokenCreated{ID: "tok_a", Workspace: "team", Role: identity.Agent, Name: "bob", At: at}))
			if err := v.complete(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := log.Write(t.Context(), func(tx *sqlconn.Tx) error { return tx.Exec(spoil) }); err != nil {
				t.Fatal(err)
			}
			var found []ledger.Stream // once found, it is until it is repaired
			for range 30 {            // a few rows at a time, round all of them
				list, err := v.Disagreeing(t.Context(), found, 3)
				if err != nil {
					t.Fatal(err)
				}
				if slices.Sort(list); len(list) < len(found) {
					t.Fatalf("%v was found, and is not now: %v", found, list)
				}
				found = list
			}
			if (len(found) > 0) != (name != "nothing") {
				t.Errorf("disagree: %v", found)
			}
		})
	}
}

// TestStreamsThatAreComparedTogetherAreJudgedEachForItself damages the second entry of the first of three tasks, and spoils the rows of the first two.
func TestStreamsThatAreComparedTogetherAreJudgedEachForItself(t *testing.T) {
	log, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
	play(t, log, newLife(), 9)
	if err := v.catchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := log.Read(t.Context(), 0, 9)
	if err != nil {
		t.Fatal(err)
	}
	streams := []ledger.Stream{entries[6].Stream, entries[0].Stream, entries[3].Stream}
	if err := log.Write(t.Context(), func(tx *sqlconn.Tx) error {
		return errors.Join(tx.Exec("UPDATE entries SET bytes = x'' WHERE position = 2"),
			tx.Exec("UPDATE view_task SET owner = 'eve' WHERE n <> (SELECT max(n) FROM view_task)"))
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // as what was found is compared again
		if list, err := v.Disagreeing(t.Context(), streams, 20); err != nil || !slices.Equal(list, streams[2:]) {
			t.Errorf("disagree: %v, %v; want %v", list, err, streams[2:])
		}
	}
}

func appendTo[E ledger.Named](t *testing.T, log ledger.Ledger, kind, id string, codec *ledger.Codec[E], ev E) {
	t.Helper()
	events, err := codec.EncodeAll([]E{ev})
	if err != nil {
		t.Fatal(err)
	}
	e := ledger.Entry{
		Stream: ledger.StreamOf("default", kind, id), Version: 1, Actor: ledger.Actor{Principal: "operator/ann"}, Events: events,
		Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	if _, err := log.Append(t.Context(), e, 0); err != nil {
		t.Fatal(err)
	}
}
