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
	"github.com/trapezehq/trapeze/internal/content/drift"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/history"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	spoken "github.com/trapezehq/trapeze/internal/usecase/phrases"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
	"github.com/trapezehq/trapeze/internal/usecase/tickets"
)

// pairs are the documents of the door and what the public client calls them.
var pairs = [][2]reflect.Type{
	{typeOf[tasks.CreateInput](), typeOf[client.CreateInput]()},
	{typeOf[tasks.SendInput](), typeOf[client.SendInput]()},
	{typeOf[tasks.EscalateInput](), typeOf[client.EscalateInput]()},
	{typeOf[tasks.ShareInput](), typeOf[client.ShareInput]()},
	{typeOf[tasks.TakeoverInput](), typeOf[client.TakeoverInput]()},
	{typeOf[tasks.ProgressInput](), typeOf[client.ProgressInput]()},
	{typeOf[tasks.HeartbeatInput](), typeOf[client.HeartbeatInput]()},
	{typeOf[tasks.CompleteInput](), typeOf[client.CompleteInput]()},
	{typeOf[tasks.FailInput](), typeOf[client.FailInput]()},
	{typeOf[tasks.CancelInput](), typeOf[client.CancelInput]()},
	{typeOf[tasks.ConstrainInput](), typeOf[client.ConstrainInput]()},
	{typeOf[tasks.AnnotateInput](), typeOf[client.AnnotateInput]()},
	{typeOf[tasks.ReplayInput](), typeOf[client.ReplayInput]()},
	{typeOf[tasks.DiscardInput](), typeOf[client.DiscardInput]()},
	{typeOf[tasks.StuckInput](), typeOf[client.StuckInput]()},
	{typeOf[tasks.StuckAgentInput](), typeOf[client.StuckAgentInput]()},
	{typeOf[tasks.ShedInput](), typeOf[client.ShedInput]()},
	{typeOf[taskstore.Relief](), typeOf[client.Relief]()},
	{typeOf[tasks.AcceptInput](), typeOf[client.AcceptInput]()},
	{typeOf[tasks.RejectInput](), typeOf[client.RejectInput]()},
	{typeOf[tasks.ConfirmInput](), typeOf[client.ConfirmInput]()},
	{typeOf[tasks.ApproveInput](), typeOf[client.ApproveInput]()},
	{typeOf[tasks.DenyInput](), typeOf[client.DenyInput]()},
	{typeOf[tasks.ImportInput](), typeOf[client.ImportInput]()},
	{typeOf[tasks.GapInput](), typeOf[client.GapInput]()},
	{typeOf[tasks.PreviewInput](), typeOf[client.PreviewInput]()},
	{typeOf[tasks.Imported](), typeOf[client.Imported]()},
	{typeOf[tasks.Preview](), typeOf[client.Preview]()},
	{typeOf[drift.Report](), typeOf[client.Drift]()},
	{typeOf[agents.AgentSpec](), typeOf[client.AgentSpec]()},
	{typeOf[agents.TokenInput](), typeOf[client.TokenInput]()},
	{typeOf[ReadinessInput](), typeOf[client.ReadinessInput]()},
	{typeOf[taskstore.Receipt](), typeOf[client.Receipt]()},
	{typeOf[tasks.Accepted](), typeOf[client.Accepted]()},
	{typeOf[tasks.Sheet](), typeOf[client.Sheet]()},
	{typeOf[agents.Agent](), typeOf[client.Agent]()},
	{typeOf[agents.Token](), typeOf[client.Token]()},
	{typeOf[history.Notice](), typeOf[client.Event]()},
	{typeOf[spoken.DoInput](), typeOf[client.DoInput]()},
	{typeOf[spoken.Done](), typeOf[client.Done]()},
	{typeOf[policies.RouteInput](), typeOf[client.RouteInput]()},
	{typeOf[policies.Routed](), typeOf[client.Routed]()},
	{typeOf[policies.PolicyInForce](), typeOf[client.Policy]()},
	{typeOf[policies.PolicyInput](), typeOf[client.PolicyCheck]()},
	{typeOf[policies.PolicyChecked](), typeOf[client.PolicyChecked]()},
	{typeOf[view.Trail](), typeOf[client.Trail]()},
	{typeOf[Task](), typeOf[client.Task]()},
	{typeOf[Handoff](), typeOf[client.Handoff]()},
	{typeOf[TaskPage](), typeOf[client.TaskPage]()},
	{typeOf[Inbox](), typeOf[client.Inbox]()},
	{typeOf[AgentList](), typeOf[client.AgentList]()},
	{typeOf[agents.ChannelInput](), typeOf[client.ChannelInput]()},
	{typeOf[agents.DescribeInput](), typeOf[client.DescribeInput]()},
	{typeOf[agents.SubscriptionInput](), typeOf[client.SubscriptionInput]()},
	{typeOf[agents.Channel](), typeOf[client.Channel]()},
	{typeOf[ChannelPage](), typeOf[client.ChannelPage]()},
	{typeOf[memories.RememberInput](), typeOf[client.RememberInput]()},
	{typeOf[memories.ReviseInput](), typeOf[client.ReviseInput]()},
	{typeOf[memories.TagInput](), typeOf[client.TagInput]()},
	{typeOf[memories.WeighInput](), typeOf[client.WeighInput]()},
	{typeOf[memories.Item](), typeOf[client.MemoryItem]()},
	{typeOf[MemoryPage](), typeOf[client.MemoryPage]()},
	{typeOf[MemoryVersions](), typeOf[client.MemoryVersions]()},
	{typeOf[memories.AppendTurnInput](), typeOf[client.TurnInput]()},
	{typeOf[memories.Said](), typeOf[client.Said]()},
	{typeOf[memories.Conversation](), typeOf[client.Conversation]()},
	{typeOf[memories.Continuity](), typeOf[client.Continuity]()},
	{typeOf[ConversationPage](), typeOf[client.ConversationPage]()},
	{typeOf[tickets.AskInput](), typeOf[client.AskInput]()},
	{typeOf[tickets.ClaimInput](), typeOf[client.ClaimInput]()},
	{typeOf[tickets.ReleaseInput](), typeOf[client.ReleaseInput]()},
	{typeOf[tickets.AnswerInput](), typeOf[client.AnswerInput]()},
	{typeOf[Ticket](), typeOf[client.Ticket]()},
	{typeOf[TicketPage](), typeOf[client.TicketPage]()},
	{typeOf[TokenList](), typeOf[client.TokenList]()},
	{typeOf[Me](), typeOf[client.Me]()},
	{typeOf[ArtifactInfo](), typeOf[client.ArtifactInfo]()},
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
	s := New(&tasks.App{}, Options{}) // panics if a route cannot be described
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
