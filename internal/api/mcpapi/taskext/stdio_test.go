package taskext_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/taskext"
)

// line is a client's end of a transport that has streams of notifications.
type line struct {
	*harness
	conn    mcp.Connection
	session *mcp.ServerSession
}

// onLine runs a test on a transport of one client.
func onLine(t *testing.T, test func(*testing.T, *line)) {
	t.Helper()
	onLineOf(t, nil, test)
}

// onLineOf is onLine with another source of tasks.
func onLineOf(t *testing.T, source taskext.Source, test func(*testing.T, *line)) {
	t.Helper()
	run(t, func(t *testing.T, h *harness) {
		if source == nil {
			source = h.memory
		}
		here, there := mcp.NewInMemoryTransports()
		session, err := h.server.Connect(t.Context(), taskext.Transport(there, source), nil)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := here.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = conn.Close() // the test may have closed it
			_ = session.Wait()
		}()
		test(t, &line{h, conn, session})
	})
}

// says sends a message; params is an object without its last brace.
func (l *line) says(id, method, params, can string) {
	l.t.Helper()
	l.sends(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `,"_meta":{
		"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + can + `}}}`)
}

func (l *line) sends(message string) {
	l.t.Helper()
	m, err := jsonrpc.DecodeMessage([]byte(message))
	if err == nil {
		err = l.conn.Write(l.t.Context(), m)
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// listens asks for a stream about tasks.
func (l *line) listens(id string, ids ...string) {
	l.t.Helper()
	named, err := json.Marshal(ids)
	if err != nil {
		l.t.Fatal(err)
	}
	l.says(id, "subscriptions/listen", `{"notifications":{"taskIds":`+string(named)+`}`, able)
}

func (l *line) cancels(id string) {
	l.t.Helper()
	l.sends(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
}

// hears is the next message, in short: the stream that it is of and what it says.
func (l *line) hears() string {
	l.t.Helper()
	m, err := l.conn.Read(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	data, err := jsonrpc.EncodeMessage(m)
	var f struct {
		frame
		ID any `json:"id"`
	}
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	of := func(meta any) any {
		marked, _ := meta.(map[string]any)
		return marked["io.modelcontextprotocol/subscriptionId"]
	}
	switch {
	case f.Error != nil:
		return fmt.Sprint(f.ID, " refused ", f.Error.Code)
	case f.Method == "":
		return fmt.Sprint(f.ID, " ", f.Result["resultType"], " ", of(f.Result["_meta"]))
	case f.Params["taskId"] != nil:
		return fmt.Sprint(of(f.Params["_meta"]), " is ", f.Params["status"])
	}
	about, _ := f.Params["notifications"].(map[string]any)
	ids, _ := about["taskIds"].([]any)
	return fmt.Sprint(of(f.Params["_meta"]), " acknowledged ", len(ids))
}

// hear checks what comes next. Of two streams it does not matter who is heard first.
func (l *line) hear(want ...string) {
	l.t.Helper()
	var got []string
	for range want {
		got = append(got, l.hears())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		l.t.Fatalf("it says\n%s\nwhere it should\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestOneClientIsToldHowItsTasksGoOn(t *testing.T) {
	onLine(t, func(_ *testing.T, l *line) {
		slow, asking := l.begin("slow_compute", `{"seconds":2,"label":"x"}`), l.begin("confirm_delete", `{}`)
		synctest.Wait()
		l.listens(`"s"`, slow, "nobody", asking, slow)
		l.hear("s acknowledged 2")
		l.hear("s is working", "s is input_required")
		l.hear("s is completed")
		l.update(asking, `{"confirm":{"action":"accept"}}`)
		for said := ""; said != "s is completed"; { // a state that lasted for no time may be passed over
			if said = l.hears(); said != "s is working" && said != "s is completed" {
				l.t.Fatal(said)
			}
		}
		l.hear("s complete s")
	})
}

func TestAStreamAboutNothingThatIsEndsAtOnce(t *testing.T) {
	onLine(t, func(_ *testing.T, l *line) {
		l.listens("7", "nobody", "nothing")
		l.hear("7 acknowledged 0")
		l.hear("7 complete 7")
	})
}

func TestStreamsStandBesideEachOtherAndAreCancelledByTheirRequests(t *testing.T) {
	onLine(t, func(t *testing.T, l *line) {
		long, short := l.begin("slow_compute", `{"seconds":3600,"label":"x"}`), l.begin("slow_compute", `{"seconds":60,"label":"x"}`)
		l.listens("1", long, short)
		l.hear("1 acknowledged 2")
		l.hear("1 is working", "1 is working")
		l.listens(`"1"`, short) // text is another id than a number
		l.hear("1 acknowledged 1")
		l.hear("1 is working")
		for _, other := range []string{"2", "null", "{}", `"no"`} {
			l.cancels(other)
		}
		l.cancels("1")
		l.hear("1 complete 1")
		l.hear("1 is completed", "1 complete 1") // the other's
		began := time.Now()
		l.listens("1", long) // the id is free again
		l.hear("1 acknowledged 1")
		l.hear("1 is working")
		if time.Since(began) != 0 {
			t.Errorf("it took %s", time.Since(began))
		}
	})
}

func TestTheServerIsNotHeldUpByAStream(t *testing.T) {
	onLine(t, func(_ *testing.T, l *line) {
		l.listens("1", l.begin("slow_compute", `{"seconds":3600,"label":"x"}`))
		l.hear("1 acknowledged 1")
		l.hear("1 is working")
		l.says("2", "tools/call", `{"name":"greet","arguments":{"name":"you"}`, able)
		l.hear("2 complete <nil>")
		l.says("3", "subscriptions/listen", `{"notifications":{}`, able) // which is none of ours
		l.hear("3 acknowledged 0", "3 complete 3")
	})
}

func TestAStreamThatIsRefused(t *testing.T) {
	onLine(t, func(_ *testing.T, l *line) {
		id := l.begin("slow_compute", `{"seconds":3600,"label":"x"}`)
		l.says("1", "subscriptions/listen", `{"notifications":{"taskIds":["`+id+`"]}`, ignorant)
		l.hear("1 refused -32021")
		l.says("1", "subscriptions/listen", `{"notifications":{"taskIds":"all"}`, able)
		l.hear("1 refused -32602")
		l.listens("1", slices.Repeat([]string{id}, 101)...)
		l.hear("1 refused -32602")
		l.listens("1", slices.Repeat([]string{id}, 100)...)
		l.hear("1 acknowledged 1")
		l.hear("1 is working")
		l.listens("1", id)
		if m, err := l.conn.Read(l.t.Context()); err == nil { // it has no id, and could not be read
			l.t.Errorf("a second of the same id is answered as if it were the first: %v", m)
		}
		l.cancels("1")
		l.hear("1 complete 1")
	})
}

func TestAConnectionHasSoManyStreamsOpenAndNoMore(t *testing.T) {
	onLine(t, func(_ *testing.T, l *line) {
		id := l.begin("slow_compute", `{"seconds":3600,"label":"x"}`)
		for n := range 64 {
			l.listens(fmt.Sprint(n), id)
			l.hear(fmt.Sprint(n, " acknowledged 1"))
			l.hear(fmt.Sprint(n, " is working"))
		}
		l.listens("64", id)
		l.hear("64 refused -32603")
		l.cancels("7")
		l.hear("7 complete 7")
		l.listens("64", id)
		l.hear("64 acknowledged 1")
		l.hear("64 is working")
	})
}

func TestTheStreamsOfAConnectionAreAboutSoManyTasksTogetherAndNoMore(t *testing.T) {
	onLine(t, func(_ *testing.T, l *line) {
		var ids []string
		for range 100 {
			ids = append(ids, l.begin("slow_compute", `{"seconds":3600,"label":"x"}`))
		}
		opens := func(id string, n int) {
			l.t.Helper()
			l.listens(id, ids[:n]...)
			l.hear(append(slices.Repeat([]string{id + " is working"}, n), fmt.Sprint(id, " acknowledged ", n))...)
		}
		opens("1", 100)
		opens("2", 100)
		l.listens("3", ids...)
		l.hear("3 refused -32600")
		opens("3", 56)
		l.listens("4", ids[0])
		l.hear("4 refused -32600")
		l.cancels("1")
		l.hear("1 complete 1")
		opens("4", 100)
	})
}

func TestAStreamEndsWithItsConnection(t *testing.T) {
	for name, end := range map[string]func(*line) error{
		"the client goes":   func(l *line) error { return l.conn.Close() },
		"the server leaves": func(l *line) error { return l.session.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			onLine(t, func(t *testing.T, l *line) {
				l.listens("1", l.begin("slow_compute", `{"seconds":3600,"label":"x"}`))
				l.hear("1 acknowledged 1")
				l.hear("1 is working")
				began := time.Now()
				if err := end(l); err != nil {
					t.Fatal(err)
				}
				_ = l.session.Wait()
				synctest.Wait()
				if time.Since(began) != 0 {
					t.Errorf("it took %s", time.Since(began))
				}
			})
		})
	}
}

// An older client is told nothing of tasks, whatever it names.
func TestOlderProtocolsHaveNoStreamsOfTasks(t *testing.T) {
	onLine(t, func(_ *testing.T, l *line) {
		l.sends(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"old","version":"1"},"capabilities":` + able + `}}`)
		l.hears()
		l.sends(`{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"taskIds":["x"]}}}`)
		if said := l.hears(); strings.Contains(said, "acknowledged 1") {
			l.t.Fatal(said)
		}
	})
}

// patient is a source that has an answer to nothing, until nobody wants it any more.
type patient struct{ taskext.Source }

func (patient) Get(ctx context.Context, _ string) (taskext.Task, error) {
	<-ctx.Done()
	return taskext.Task{}, ctx.Err()
}

func TestAStreamIsCancelledBeforeItHasBegun(t *testing.T) {
	onLineOf(t, patient{}, func(t *testing.T, l *line) {
		l.listens("1", "x")
		synctest.Wait()
		l.cancels("1")
		l.hear("1 complete 1")
	})
}

// failing is a source that can tell nothing.
type failing struct{ taskext.Source }

func (failing) Get(context.Context, string) (taskext.Task, error) {
	return taskext.Task{}, errors.New("the lights are out")
}

func TestAStreamWhoseTasksCannotBeReadIsRefused(t *testing.T) {
	onLineOf(t, failing{}, func(t *testing.T, l *line) {
		l.listens("1", "x")
		l.hear("1 refused -32603")
	})
}
