package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/delivery/monitor"
	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/server/certificate/certtest"
)

// stage is where the story of one alert is told: a server whose clock stands, its operator, agents, and a person who is notified.
type stage struct {
	*watchdog
	clock    *Clock
	box      *mailbox
	operator admin.Client
	agents   map[string]*client.Client
	tokens   map[string]string
	config   Config
	round    int             // how often the condition has begun
	had      map[string]bool // messages that may come again, by id
	// judge judges, if the server cannot move the clock in this story.
	judge func()

	moody moody // a witness of the record
	ca    *certtest.CA

	at      int // of an entry that is damaged
	was     []byte
	gate    gate
	counted *monitor.Monitor // behind the gate
}

func newStage(t *testing.T, of *story) *stage {
	t.Helper()
	st := &stage{clock: NewClock(time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)), box: newMailbox(t), tokens: map[string]string{}, had: map[string]bool{}}
	st.config = Config{Clock: st.clock, Alerts: []string{"webhook:" + st.box.URL}}
	if of.disk {
		st.config.DataDir = t.TempDir()
	}
	if of.certificate {
		st.ca = certtest.NewCA(t)
		st.config.TLS = pairFiles(st.ca.Issue("127.0.0.1"), "")
	}
	if of.witness {
		st.config.Witnesses = []string{st.moody.serve(t)}
	}
	if of.policy != "" {
		st.config.Policy = filepath.Join(t.TempDir(), "policy.yaml")
		if err := os.WriteFile(st.config.Policy, []byte(of.policy), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	st.watchdog = newWatchdog(t, st.config)
	made, err := st.boss.CreateToken(t.Context(), client.TokenInput{Role: "operator", Name: "olga"})
	if err != nil {
		t.Fatal(err)
	}
	st.tokens["olga"] = made.Text
	st.connect()
	return st
}

// connect makes the clients of the server that runs now.
func (st *stage) connect() {
	st.agents, st.operator = map[string]*client.Client{}, admin.New(connect(st.T, st.s, st.tokens["olga"]))
}

// as is the client of an agent, which is registered first if it is new.
func (st *stage) as(name string, spec client.AgentSpec) *client.Client {
	st.Helper()
	if c, ok := st.agents[name]; ok {
		return c
	}
	if _, ok := st.tokens[name]; !ok {
		if _, err := st.boss.RegisterAgent(st.Context(), name, spec); err != nil {
			st.Fatal(err)
		}
		made, err := st.boss.CreateToken(st.Context(), client.TokenInput{Role: "agent", Name: name})
		if err != nil {
			st.Fatal(err)
		}
		st.tokens[name] = made.Text
	}
	st.agents[name] = connect(st.T, st.s, st.tokens[name])
	return st.agents[name]
}

// found is the alert of a definition that is raised; there must be at most one.
func (st *stage) found(name string) (a admin.Alert, ok bool) {
	st.Helper()
	for _, one := range st.raised() {
		if one.Name != name {
			continue
		}
		if ok {
			st.Fatalf("raised twice: %s and %s", a.ID, one.ID)
		}
		a, ok = one, true
	}
	return a, ok
}

// await advances the clock until the alert is raised, or is not.
func (st *stage) await(name string, raised bool, at most) admin.Alert {
	st.Helper()
	for range at.times {
		if a, ok := st.found(name); ok == raised {
			return a
		}
		if st.judge != nil {
			st.clock.move(st.clock.Now().Add(at.step))
			st.judge()
			continue
		}
		st.advance(at.step)
	}
	st.Fatalf("%s is not %s after %d times %s: %+v", name, map[bool]string{true: "raised", false: "over"}[raised], at.times, at.step, st.raised())
	return admin.Alert{}
}

// most is how long an alert is waited for.
type most struct {
	times int
	step  time.Duration
}

// entries lists the events of the alert in the record: their names, and the data of the last that was raised.
func (st *stage) entries(name string) (events []string, last alert.Raised) {
	st.Helper()
	var b strings.Builder
	if err := st.boss.Export(st.Context(), client.ExportOptions{SkipDamaged: true}, &b); err != nil {
		st.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		var e struct {
			Event string          `json:"event"`
			Data  json.RawMessage `json:"details"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			st.Fatal(err)
		}
		what, ok := strings.CutPrefix(e.Event, "alert-")
		if !ok {
			continue
		}
		var of alert.Raised
		if err := json.Unmarshal(e.Data, &of); err != nil {
			st.Fatal(err)
		}
		if of.Name == name {
			events = append(events, what)
		}
		if of.Name == name && what == "raised" {
			last = of
		}
	}
	return events, last
}

func (st *stage) begin(of *story) {
	st.Helper()
	st.round++
	of.begin(st)
}

// again judges at the same time.
func (st *stage) again() {
	st.Helper()
	if st.judge != nil {
		st.judge()
		return
	}
	st.advance(time.Second)
}

// over checks what is shown of an alert that has recovered.
func (st *stage) over(id string) {
	st.Helper()
	if a, err := st.operator.Alert(st.Context(), id); err != nil || a.State != "recovered" || a.Recovered == nil || a.Now != "" {
		st.Errorf("%v: %+v", err, a)
	}
}
