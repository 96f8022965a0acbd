//go:build slow || outside

package scenario

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/figure"
)

// TestFiguresAreEqualAfterTheServerWasKilled compares what Prometheus gets before and after kill -9.
func TestFiguresAreEqualAfterTheServerWasKilled(t *testing.T) {
	r := newRig(t, t.TempDir(), modeServe)
	url := r.start()
	c := r.client(url, r.token)
	for _, name := range []string{"ann", "bob"} {
		if _, err := c.RegisterAgent(t.Context(), name, api.AgentSpec{}); err != nil {
			t.Fatal(err)
		}
	}
	token, err := c.CreateToken(t.Context(), api.TokenInput{Role: api.RoleAgent, Name: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	bob := r.client(url, token.Text)
	for n := range 5 {
		made, err := c.CreateTask(t.Context(), api.CreateInput{Intent: fmt.Sprint("do ", n), Send: &api.SendInput{To: []string{"bob"}}})
		switch n {
		case 0:
			var got api.Accepted
			if got, err = bob.Accept(t.Context(), made.Handoff, api.AcceptInput{}); err == nil {
				_, err = bob.Complete(t.Context(), made.Task, api.CompleteInput{Epoch: got.Epoch, Result: api.Result{Text: "done"}})
			}
		case 1:
			_, err = bob.Reject(t.Context(), made.Handoff, api.RejectInput{Reason: api.NotCapable})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	before := r.figuresOfRecord(url)
	r.kill()
	after := r.figuresOfRecord(r.start())
	if before != after {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	for _, want := range []string{
		`trapeze_handoffs_requested_total{kind="warm",reason="user_request",workspace="default"} 5`, `trapeze_handoff_acceptance_duration_seconds_count{agent="bob",kind="warm",workspace="default"} 1`,
		`trapeze_handoffs_failed_total{kind="warm",reason="user_request",workspace="default"} 1`, `trapeze_tasks_ended_total{state="completed",workspace="default"} 1`,
	} {
		if !strings.Contains(before, want) {
			t.Errorf("the figures lack %s:\n%s", want, before)
		}
	}
}

// figuresOfRecord returns the lines of the figures that are counted from the record, once all of it is counted.
func (r *rig) figuresOfRecord(url string) string {
	r.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(time.Millisecond) {
		text := r.scrape(url)
		if !strings.Contains(text, "\n"+figure.FigureLag.Prometheus()+" 0\n") {
			continue
		}
		var b strings.Builder
		for line := range strings.Lines(text) {
			for _, i := range figure.Instruments() {
				if i.Origin == figure.Record && (strings.HasPrefix(line, i.Prometheus()+"{") || strings.HasPrefix(line, i.Prometheus()+"_")) {
					b.WriteString(line)
					break
				}
			}
		}
		return b.String()
	}
	r.Fatal("the record is not counted")
	return ""
}

func (r *rig) scrape(url string) string {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, url+"/metrics", nil)
	if err != nil {
		r.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		r.Fatalf("%d, %v: %s", resp.StatusCode, err, b)
	}
	return string(b)
}
