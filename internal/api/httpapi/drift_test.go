package httpapi_test

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/channels"
	"github.com/trapezehq/trapeze/internal/usecase/conversations"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/moves"
	"github.com/trapezehq/trapeze/internal/usecase/tokens"
	"github.com/trapezehq/trapeze/internal/usecase/workspaces"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/api/httpapi/schema"
	"github.com/trapezehq/trapeze/internal/content/drift"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/history"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/phrases"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
	"github.com/trapezehq/trapeze/internal/usecase/tickets"
)

// pairs are the documents of the API and their types in the public client.
var pairs = [][2]reflect.Type{
	{reflect.TypeFor[tasks.CreateInput](), reflect.TypeFor[client.CreateInput]()},
	{reflect.TypeFor[handoffs.SendInput](), reflect.TypeFor[client.SendInput]()},
	{reflect.TypeFor[tasks.EscalateInput](), reflect.TypeFor[client.EscalateInput]()},
	{reflect.TypeFor[tasks.ShareInput](), reflect.TypeFor[client.ShareInput]()},
	{reflect.TypeFor[tasks.TakeoverInput](), reflect.TypeFor[client.TakeoverInput]()},
	{reflect.TypeFor[tasks.ProgressInput](), reflect.TypeFor[client.ProgressInput]()},
	{reflect.TypeFor[tasks.HeartbeatInput](), reflect.TypeFor[client.HeartbeatInput]()},
	{reflect.TypeFor[tasks.CompleteInput](), reflect.TypeFor[client.CompleteInput]()},
	{reflect.TypeFor[tasks.FailInput](), reflect.TypeFor[client.FailInput]()},
	{reflect.TypeFor[tasks.CancelInput](), reflect.TypeFor[client.CancelInput]()},
	{reflect.TypeFor[tasks.ConstrainInput](), reflect.TypeFor[client.ConstrainInput]()},
	{reflect.TypeFor[tasks.AnnotateInput](), reflect.TypeFor[client.AnnotateInput]()},
	{reflect.TypeFor[tasks.ReplayInput](), reflect.TypeFor[client.ReplayInput]()},
	{reflect.TypeFor[tasks.DiscardInput](), reflect.TypeFor[client.DiscardInput]()},
	{reflect.TypeFor[tasks.StuckInput](), reflect.TypeFor[client.StuckInput]()},
	{reflect.TypeFor[tasks.StuckAgentInput](), reflect.TypeFor[client.StuckAgentInput]()},
	{reflect.TypeFor[tasks.ShedInput](), reflect.TypeFor[client.ShedInput]()},
	{reflect.TypeFor[taskstore.Relief](), reflect.TypeFor[client.Relief]()},
	{reflect.TypeFor[tasks.AcceptInput](), reflect.TypeFor[client.AcceptInput]()},
	{reflect.TypeFor[tasks.RejectInput](), reflect.TypeFor[client.RejectInput]()},
	{reflect.TypeFor[tasks.ConfirmInput](), reflect.TypeFor[client.ConfirmInput]()},
	{reflect.TypeFor[tasks.ApproveInput](), reflect.TypeFor[client.ApproveInput]()},
	{reflect.TypeFor[tasks.DenyInput](), reflect.TypeFor[client.DenyInput]()},
	{reflect.TypeFor[tasks.ImportInput](), reflect.TypeFor[client.ImportInput]()},
	{reflect.TypeFor[tasks.GapInput](), reflect.TypeFor[client.GapInput]()},
	{reflect.TypeFor[tasks.PreviewInput](), reflect.TypeFor[client.PreviewInput]()},
	{reflect.TypeFor[tasks.Imported](), reflect.TypeFor[client.Imported]()},
	{reflect.TypeFor[tasks.Preview](), reflect.TypeFor[client.Preview]()},
	{reflect.TypeFor[drift.Report](), reflect.TypeFor[client.Drift]()},
	{reflect.TypeFor[agents.AgentSpec](), reflect.TypeFor[client.AgentSpec]()},
	{reflect.TypeFor[tokens.TokenInput](), reflect.TypeFor[client.TokenInput]()},
	{reflect.TypeFor[httpapi.ReadinessInput](), reflect.TypeFor[client.ReadinessInput]()},
	{reflect.TypeFor[taskstore.Receipt](), reflect.TypeFor[client.Receipt]()},
	{reflect.TypeFor[tasks.Accepted](), reflect.TypeFor[client.Accepted]()},
	{reflect.TypeFor[envelopes.Sheet](), reflect.TypeFor[client.Sheet]()},
	{reflect.TypeFor[agents.Agent](), reflect.TypeFor[client.Agent]()},
	{reflect.TypeFor[tokens.Token](), reflect.TypeFor[client.Token]()},
	{reflect.TypeFor[history.Event](), reflect.TypeFor[client.Event]()},
	{reflect.TypeFor[phrases.DoInput](), reflect.TypeFor[client.DoInput]()},
	{reflect.TypeFor[phrases.Done](), reflect.TypeFor[client.Done]()},
	{reflect.TypeFor[policies.RouteInput](), reflect.TypeFor[client.RouteInput]()},
	{reflect.TypeFor[policies.Routed](), reflect.TypeFor[client.Routed]()},
	{reflect.TypeFor[policies.PolicyInForce](), reflect.TypeFor[admin.Policy]()},
	{reflect.TypeFor[policies.PolicyInput](), reflect.TypeFor[client.PolicyCheck]()},
	{reflect.TypeFor[policies.PolicyChecked](), reflect.TypeFor[admin.PolicyChecked]()},
	{reflect.TypeFor[view.Trail](), reflect.TypeFor[client.Trail]()},
	{reflect.TypeFor[httpapi.Task](), reflect.TypeFor[client.Task]()},
	{reflect.TypeFor[httpapi.Handoff](), reflect.TypeFor[client.Handoff]()},
	{reflect.TypeFor[httpapi.TaskPage](), reflect.TypeFor[client.TaskPage]()},
	{reflect.TypeFor[httpapi.Inbox](), reflect.TypeFor[client.Inbox]()},
	{reflect.TypeFor[httpapi.AgentList](), reflect.TypeFor[client.AgentList]()},
	{reflect.TypeFor[workspaces.WorkspaceInput](), reflect.TypeFor[admin.WorkspaceInput]()},
	{reflect.TypeFor[workspaces.LimitsInput](), reflect.TypeFor[admin.LimitsInput]()},
	{reflect.TypeFor[workspaces.ArchiveInput](), reflect.TypeFor[admin.ArchiveInput]()},
	{reflect.TypeFor[moves.LeaveInput](), reflect.TypeFor[admin.MoveInput]()},
	{reflect.TypeFor[moves.ReceiveInput](), reflect.TypeFor[admin.ReceiveInput]()},
	{reflect.TypeFor[moves.Move](), reflect.TypeFor[admin.Move]()},
	{reflect.TypeFor[workspaces.Workspace](), reflect.TypeFor[admin.Workspace]()},
	{reflect.TypeFor[httpapi.WorkspacePage](), reflect.TypeFor[admin.WorkspaceList]()},
	{reflect.TypeFor[channels.ChannelInput](), reflect.TypeFor[client.ChannelInput]()},
	{reflect.TypeFor[channels.DescribeInput](), reflect.TypeFor[client.DescribeInput]()},
	{reflect.TypeFor[channels.SubscriptionInput](), reflect.TypeFor[client.SubscriptionInput]()},
	{reflect.TypeFor[channels.Channel](), reflect.TypeFor[client.Channel]()},
	{reflect.TypeFor[httpapi.ChannelPage](), reflect.TypeFor[client.ChannelPage]()},
	{reflect.TypeFor[memories.RememberInput](), reflect.TypeFor[client.RememberInput]()},
	{reflect.TypeFor[memories.ReviseInput](), reflect.TypeFor[client.ReviseInput]()},
	{reflect.TypeFor[memories.TagInput](), reflect.TypeFor[client.TagInput]()},
	{reflect.TypeFor[memories.WeighInput](), reflect.TypeFor[client.WeighInput]()},
	{reflect.TypeFor[memories.Item](), reflect.TypeFor[client.MemoryItem]()},
	{reflect.TypeFor[httpapi.MemoryPage](), reflect.TypeFor[client.MemoryPage]()},
	{reflect.TypeFor[httpapi.MemoryVersions](), reflect.TypeFor[client.MemoryVersions]()},
	{reflect.TypeFor[conversations.AppendTurnInput](), reflect.TypeFor[client.TurnInput]()},
	{reflect.TypeFor[conversations.Said](), reflect.TypeFor[client.Said]()},
	{reflect.TypeFor[conversations.Conversation](), reflect.TypeFor[client.Conversation]()},
	{reflect.TypeFor[conversations.Continuity](), reflect.TypeFor[client.Continuity]()},
	{reflect.TypeFor[httpapi.ConversationPage](), reflect.TypeFor[client.ConversationPage]()},
	{reflect.TypeFor[tickets.AskInput](), reflect.TypeFor[client.AskInput]()},
	{reflect.TypeFor[tickets.ClaimInput](), reflect.TypeFor[client.ClaimInput]()},
	{reflect.TypeFor[tickets.ReleaseInput](), reflect.TypeFor[client.ReleaseInput]()},
	{reflect.TypeFor[tickets.AnswerInput](), reflect.TypeFor[client.AnswerInput]()},
	{reflect.TypeFor[httpapi.Ticket](), reflect.TypeFor[client.Ticket]()},
	{reflect.TypeFor[httpapi.TicketPage](), reflect.TypeFor[client.TicketPage]()},
	{reflect.TypeFor[httpapi.TokenList](), reflect.TypeFor[client.TokenList]()},
	{reflect.TypeFor[httpapi.Me](), reflect.TypeFor[client.Me]()},
	{reflect.TypeFor[httpapi.ArtifactInfo](), reflect.TypeFor[client.ArtifactInfo]()},
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

func TestEveryDocumentOfTheAPIIsCompared(t *testing.T) {
	s := httpapi.New(&usecase.Surface{}, httpapi.Options{}) // panics if a route cannot be described
	if s == nil {
		t.Fatal("no handler")
	}
	compared := map[reflect.Type]bool{}
	for _, p := range pairs {
		compared[p[0]] = true
	}
	for in := range schema.Inputs() {
		if !compared[in] {
			t.Errorf("%s is not compared with the client's", in)
		}
	}
}

// fieldsOf lists the JSON fields of a type, those of what is in it included, as "send.to,omitempty []string".
func fieldsOf(t reflect.Type, under string) (out []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && t != reflect.TypeFor[json.RawMessage]() {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
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
		if !f.IsExported() || name == "-" || schema.PathField(t) == name {
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
	case t == reflect.TypeFor[json.RawMessage]():
		return "any"
	case t == reflect.TypeFor[time.Time]():
		return "time"
	case t.Kind() == reflect.Pointer:
		return wireType(t.Elem())
	case t.Kind() == reflect.Slice:
		return "list of " + wireType(t.Elem())
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return "string"
	}
	return t.Kind().String()
}
