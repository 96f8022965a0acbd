//go:build slow

package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/domain/alert"
)

// shares has an agent start a task and share it with others, which do not look.
func (st *stage) shares(by string, with ...string) {
	st.Helper()
	c := st.as(by, client.AgentSpec{})
	r, err := c.CreateTask(st.Context(), client.CreateInput{Intent: "look at this"})
	if err != nil {
		st.Fatal(err)
	}
	for _, to := range with {
		st.as(to, client.AgentSpec{})
		if _, err := c.Share(st.Context(), r.Task, client.ShareInput{Epoch: r.Epoch, To: to}); err != nil {
			st.Fatal(err)
		}
	}
}

// TestNoAgentHidesTheAlertsOfOthersByManyOfItsOwn: it shares a task with more agents than have alerts of their own, also with one that others wait for.
func TestNoAgentHidesTheAlertsOfOthersByManyOfItsOwn(t *testing.T) {
	t.Parallel()
	st := newStage(t, &story{})
	victims := make([]string, alert.MaxAgents+5)
	for n := range victims {
		victims[n] = fmt.Sprintf("a%02d", n)
	}
	st.shares("eve", slices.Concat(victims, []string{"zeta"})...)
	st.advance(time.Minute)
	st.shares("lead", "zeta")
	st.advance(62 * time.Minute)
	raised := st.raised()
	if _, ok := raised["inbox-old:zeta"]; !ok || len(raised) != alert.MaxOfCause+2 {
		t.Errorf("zeta is not named, or too many are: %d", len(raised))
	}
	others := raised["inbox-old:.others"]
	want := victims[alert.MaxOfCause:]
	if others.Number != 15 || !slices.Equal(others.Agents, want) {
		t.Fatalf("the others: %+v", others)
	}
	for m := st.notice("inbox-old"); ; m = st.notice("inbox-old") {
		if m.Alert != others.ID {
			continue
		}
		if _, body := m.Text(); m.Number != 15 || !slices.Equal(m.Agents, want) || !strings.Contains(body, "Agents (15): "+strings.Join(want, ", ")) {
			t.Errorf("the person is sent %+v: %s", m, body)
		}
		break
	}
	page := newReader(t, st.s)
	page.get(page.link(adminToken(t, st.s)), http.StatusOK)
	shown(t, "the overview", page.get("/", http.StatusOK), `id="alert-inbox-old:zeta"`, `<a href="/agents/zeta">zeta</a>`)
	_, body, _ := strings.Cut(page.get("/alerts", http.StatusOK), `id="`+others.ID+`"`)
	body, _, _ = strings.Cut(body, "</li>")
	shown(t, "the page of alerts", body, "Agents (15): ", `<a href="/agents/a10">a10</a>`, `<a href="/agents/a24">a24</a>`)
	if strings.Contains(body, `href="/agents/(`) {
		t.Errorf("a link to no agent:\n%s", body)
	}
	if _, err := st.boss.RemoveAgent(t.Context(), "a24"); err != nil {
		t.Fatal(err)
	}
	st.advance(time.Minute)
	if now := st.raised()[others.ID]; now.Number != 14 || slices.Contains(now.Agents, "a24") {
		t.Errorf("one is removed: %+v", now)
	}
}

// TestAnArchivedWorkspaceHasNoAlerts: what is raised ends with the archive, and what waits in it is in no figure.
func TestAnArchivedWorkspaceHasNoAlerts(t *testing.T) {
	t.Parallel()
	st := newStage(t, &story{})
	made, err := st.admin.CreateWorkspace(t.Context(), admin.WorkspaceInput{Name: "red", Bearer: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	inside := &stage{watchdog: &watchdog{t, st.s, admin.New(connect(t, st.s, made.Token.Text)), connect(t, st.s, made.Token.Text)}, tokens: map[string]string{}, agents: map[string]*client.Client{}}
	inside.shares("lead", "coder", "tester")
	st.advance(62 * time.Minute)
	if raised := inside.raised(); len(raised) != 2 {
		t.Fatalf("%+v", raised)
	}
	inside.shares("lead", "writer") // it is old only when the workspace is archived
	if _, err := st.admin.ArchiveWorkspace(t.Context(), "red", admin.ArchiveInput{Why: "it is over"}); err != nil {
		t.Fatal(err)
	}
	st.advance(time.Second)
	for range 2 {
		if raised := inside.raised(); len(raised) != 0 {
			t.Errorf("%+v", raised)
		}
		if text := scrape(t, st.s); strings.Contains(text, `trapeze_inbox_age_seconds{agent="coder",workspace="red"}`) {
			t.Error("what waits there is in the figures")
		}
		st.advance(2 * time.Hour)
	}
	if a, err := inside.admin.Alert(t.Context(), "inbox-old:coder"); err != nil || a.State != "recovered" || !a.Archived || a.Why() != "the workspace was archived" {
		t.Errorf("%v: %+v", err, a)
	}
	ended := 0
	for ended < 2 {
		m := st.notice("inbox-old")
		if _, body := m.Text(); m.Event == "alert-recovered" {
			ended++
			if !m.Archived || !strings.Contains(body, "The workspace was archived") {
				t.Errorf("the person is sent %+v", m)
			}
		}
	}
	page := newReader(t, st.s)
	page.get(page.link(made.Token.Text), http.StatusOK)
	shown(t, "the page of alerts", page.get("/alerts", http.StatusOK), "(the workspace was archived)")
	if _, err := st.admin.RestoreWorkspace(t.Context(), "red"); err != nil {
		t.Fatal(err)
	}
	st.advance(time.Second)
	if raised := inside.raised(); len(raised) != 3 {
		t.Errorf("restored: %+v", raised)
	}
}
