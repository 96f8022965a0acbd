package httpapi

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/archive"
	"github.com/trapezehq/trapeze/internal/desk"
	spoken "github.com/trapezehq/trapeze/internal/dispatch"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/drift"
	"github.com/trapezehq/trapeze/internal/knowledge"
	"github.com/trapezehq/trapeze/internal/roster"
	"github.com/trapezehq/trapeze/internal/rulebook"
	tickets "github.com/trapezehq/trapeze/internal/surface/httpapi/desk"
	"github.com/trapezehq/trapeze/internal/surface/httpapi/know"
	"github.com/trapezehq/trapeze/internal/view"
)

// pairs are the documents of the door and what the public client calls them.
var pairs = [][2]reflect.Type{
	{typeOf[app.CreateInput](), typeOf[client.CreateInput]()},
	{typeOf[app.SendInput](), typeOf[client.SendInput]()},
	{typeOf[app.EscalateInput](), typeOf[client.EscalateInput]()},
	{typeOf[app.ShareInput](), typeOf[client.ShareInput]()},
	{typeOf[app.TakeoverInput](), typeOf[client.TakeoverInput]()},
	{typeOf[app.ProgressInput](), typeOf[client.ProgressInput]()},
	{typeOf[app.HeartbeatInput](), typeOf[client.HeartbeatInput]()},
	{typeOf[app.CompleteInput](), typeOf[client.CompleteInput]()},
	{typeOf[app.FailInput](), typeOf[client.FailInput]()},
	{typeOf[app.CancelInput](), typeOf[client.CancelInput]()},
	{typeOf[app.ConstrainInput](), typeOf[client.ConstrainInput]()},
	{typeOf[app.AnnotateInput](), typeOf[client.AnnotateInput]()},
	{typeOf[app.ReplayInput](), typeOf[client.ReplayInput]()},
	{typeOf[app.DiscardInput](), typeOf[client.DiscardInput]()},
	{typeOf[app.StuckInput](), typeOf[client.StuckInput]()},
	{typeOf[app.StuckAgentInput](), typeOf[client.StuckAgentInput]()},
	{typeOf[app.ShedInput](), typeOf[client.ShedInput]()},
	{typeOf[docket.Relief](), typeOf[client.Relief]()},
	{typeOf[app.AcceptInput](), typeOf[client.AcceptInput]()},
	{typeOf[app.RejectInput](), typeOf[client.RejectInput]()},
	{typeOf[app.ConfirmInput](), typeOf[client.ConfirmInput]()},
	{typeOf[app.ApproveInput](), typeOf[client.ApproveInput]()},
	{typeOf[app.DenyInput](), typeOf[client.DenyInput]()},
	{typeOf[app.ImportInput](), typeOf[client.ImportInput]()},
	{typeOf[app.GapInput](), typeOf[client.GapInput]()},
	{typeOf[app.PreviewInput](), typeOf[client.PreviewInput]()},
	{typeOf[app.Imported](), typeOf[client.Imported]()},
	{typeOf[app.Preview](), typeOf[client.Preview]()},
	{typeOf[drift.Report](), typeOf[client.Drift]()},
	{typeOf[roster.AgentSpec](), typeOf[client.AgentSpec]()},
	{typeOf[roster.TokenInput](), typeOf[client.TokenInput]()},
	{typeOf[ReadinessInput](), typeOf[client.ReadinessInput]()},
	{typeOf[docket.Receipt](), typeOf[client.Receipt]()},
	{typeOf[app.Accepted](), typeOf[client.Accepted]()},
	{typeOf[app.Sheet](), typeOf[client.Sheet]()},
	{typeOf[roster.Agent](), typeOf[client.Agent]()},
	{typeOf[roster.Token](), typeOf[client.Token]()},
	{typeOf[archive.Notice](), typeOf[client.Event]()},
	{typeOf[spoken.DoInput](), typeOf[client.DoInput]()},
	{typeOf[spoken.Done](), typeOf[client.Done]()},
	{typeOf[rulebook.RouteInput](), typeOf[client.RouteInput]()},
	{typeOf[rulebook.Routed](), typeOf[client.Routed]()},
	{typeOf[rulebook.PolicyInForce](), typeOf[client.Policy]()},
	{typeOf[rulebook.PolicyInput](), typeOf[client.PolicyCheck]()},
	{typeOf[rulebook.PolicyChecked](), typeOf[client.PolicyChecked]()},
	{typeOf[view.Trail](), typeOf[client.Trail]()},
	{typeOf[Task](), typeOf[client.Task]()},
	{typeOf[Handoff](), typeOf[client.Handoff]()},
	{typeOf[TaskPage](), typeOf[client.TaskPage]()},
	{typeOf[Inbox](), typeOf[client.Inbox]()},
	{typeOf[AgentList](), typeOf[client.AgentList]()},
	{typeOf[roster.ChannelInput](), typeOf[client.ChannelInput]()},
	{typeOf[roster.DescribeInput](), typeOf[client.DescribeInput]()},
	{typeOf[roster.SubscriptionInput](), typeOf[client.SubscriptionInput]()},
	{typeOf[roster.Channel](), typeOf[client.Channel]()},
	{typeOf[know.ChannelPage](), typeOf[client.ChannelPage]()},
	{typeOf[knowledge.RememberInput](), typeOf[client.RememberInput]()},
	{typeOf[knowledge.ReviseInput](), typeOf[client.ReviseInput]()},
	{typeOf[knowledge.TagInput](), typeOf[client.TagInput]()},
	{typeOf[knowledge.WeighInput](), typeOf[client.WeighInput]()},
	{typeOf[knowledge.Item](), typeOf[client.MemoryItem]()},
	{typeOf[know.MemoryPage](), typeOf[client.MemoryPage]()},
	{typeOf[know.MemoryVersions](), typeOf[client.MemoryVersions]()},
	{typeOf[knowledge.AppendTurnInput](), typeOf[client.TurnInput]()},
	{typeOf[knowledge.Said](), typeOf[client.Said]()},
	{typeOf[knowledge.Conversation](), typeOf[client.Conversation]()},
	{typeOf[knowledge.Continuity](), typeOf[client.Continuity]()},
	{typeOf[know.ConversationPage](), typeOf[client.ConversationPage]()},
	{typeOf[desk.AskInput](), typeOf[client.AskInput]()},
	{typeOf[desk.ClaimInput](), typeOf[client.ClaimInput]()},
	{typeOf[desk.ReleaseInput](), typeOf[client.ReleaseInput]()},
	{typeOf[desk.AnswerInput](), typeOf[client.AnswerInput]()},
	{typeOf[tickets.Ticket](), typeOf[client.Ticket]()},
	{typeOf[tickets.TicketPage](), typeOf[client.TicketPage]()},
	{typeOf[TokenList](), typeOf[client.TokenList]()},
	{typeOf[Me](), typeOf[client.Me]()},
	{typeOf[know.ArtifactInfo](), typeOf[client.ArtifactInfo]()},
}

func TestTheClientSpeaksTheSameJSON(t *testing.T) {
	for _, p := range pairs {
		ours, theirs := fieldsOf(p[0], ""), fieldsOf(p[1], "")
		for _, f := range ours {
			if !slices.Contains(theirs, f) {
				t.Errorf("%s has %s, %s has not", p[0], f, p[1])
			}
		}
		for _, f := range theirs {
			if !slices.Contains(ours, f) {
				t.Errorf("%s has %s, %s has not", p[1], f, p[0])
			}
		}
	}
}

func TestEveryDocumentOfTheDoorIsCompared(t *testing.T) {
	s := New(&app.App{}, Options{}) // panics if a route cannot be described
	if s == nil {
		t.Fatal("no handler")
	}
	compared := map[reflect.Type]bool{}
	for _, p := range pairs {
		compared[p[0]] = true
	}
	for in := range pathFields {
		if !compared[in] {
			t.Errorf("%s is not compared with the client's", in)
		}
	}
}

// fieldsOf lists the JSON fields of a type, those of what is in it included, as "send.to,omitempty []string".
func fieldsOf(t reflect.Type, under string) (out []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && t != typeOf[json.RawMessage]() {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == typeOf[time.Time]() {
		return nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if f.Anonymous && tag == "" {
			out = append(out, fieldsOf(f.Type, under)...)
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if !f.IsExported() || name == "-" || pathFields[t] == name {
			continue
		}
		out = append(out, fmt.Sprintf("%s%s,%s %s", under, name, options, wireType(f.Type)))
		out = append(out, fieldsOf(f.Type, under+name+".")...)
	}
	return out
}

// wireType is what a value looks like in JSON.
func wireType(t reflect.Type) string {
	switch {
	case t == typeOf[json.RawMessage]():
		return "any"
	case t == typeOf[time.Time]():
		return "time"
	case t.Kind() == reflect.Pointer:
		return wireType(t.Elem())
	case t.Kind() == reflect.Slice:
		return "list of " + wireType(t.Elem())
	case reflect.PointerTo(t).Implements(typeOf[encoding.TextUnmarshaler]()):
		return "string"
	}
	return t.Kind().String()
}
