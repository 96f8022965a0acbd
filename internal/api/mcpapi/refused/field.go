package refused

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
)

// subjects are the arguments of tools whose value is an id in the path of the API.
var subjects = map[string][]string{
	"accept": {"handoff", "takeover"}, "reject": {"handoff"}, "decide": {"id"}, "cancel": {"id"}, "status": {"id"}, "recall": {"id"}, "conversation": {"id"},
	"remember": {"revise", "forget", "pin", "unpin", "tag", "weigh"}, "escalate": {"stuck", "task"}, "agent": {"agent"}, "channel": {"name"}, "join": {"channels"},
	"alerts": {"silence", "alert"}, "artifact": {"digest"},
}

// arguments are the arguments with which tools give the fields of the API that have another name there. Of several it is the first that a call gave.
var arguments = map[string][]string{
	"Idempotency-Key": {"key"}, "q": {"query"}, "detail": {"detail", "why", "text", "note"}, "note": {"note", "why"}, "notes": {"notes", "text"}, "reason": {"reason", "why"},
	"answer": {"text"}, "text": {"text", "say", "question"}, "data": {"data"}, "part": {"parts"}, "missing": {"missing", "gap"}, "title": {"title", "subject"},
	"task_description": {"ask"}, "current_state": {"summary"}, "key_facts": {"facts"}, "decisions": {"decisions"}, "open_questions": {"questions"}, "history": {"steps"},
	"artifacts": {"files"}, "memory_refs": {"memory"}, "task_context": {"data"}, "constraint": {"lift"}, "constraints": {"constraints", "constraint"},
	"constraints.id": {"id", "constraints", "constraint"}, "constraints.max": {"max", "constraints"}, "constraints.allow": {"allow", "constraints"},
	"id": {"task"}, "fan_in.mode": {"fan_in", "quorum"}, "fan_in.quorum": {"quorum"}, "pack.tokens": {"budget"}, "pack.strategy": {"strategy"}, "pack.pinned": {"pins"},
	"budget.tokens": {"budget_tokens", "tokens"}, "budget.cost_micros": {"budget_cost", "cost"}, "budget": {"budget_tokens", "budget_cost", "tokens", "cost"},
	"usage.tokens": {"tokens"}, "usage.cost_micros": {"cost"}, "result.text": {"text"}, "result.data": {"data"}, "source.agent": {"source_agent"}, "source.task": {"source_task"},
	"expected_output": {"result_schema", "criteria", "format", "max_bytes"}, "expected_output.schema": {"result_schema"}, "expected_output.format": {"format"},
	"expected_output.max_bytes": {"max_bytes"}, "expected_output.criteria": {"criteria"},
	"timeouts.offer": {"offer_timeout"}, "timeouts.ack": {"ack_timeout"}, "timeouts.approval": {"approval_timeout"}, "timeouts.answer": {"answer_timeout"},
	"timeouts.confirm": {"confirm_timeout"}, "timeouts.lease": {"lease"}, "timeouts.progress": {"progress_timeout"}, "timeouts.wait": {"wait_timeout"},
	"limits.hops": {"limit_hops"}, "limits.handoffs": {"limit_handoffs"}, "limits.visits": {"limit_visits"}, "limits.escalations": {"limit_escalations"},
	"limits.attempts": {"limit_attempts"}, "limits.tasks": {"limit_tasks"},
}

// inside matches what the name of a field begins with if the field is in a part of a request for which tools have no name.
var inside = regexp.MustCompile(`^(path|query|header|body|send|content|handoff)\.`)

// index matches the place of an entry in a list.
var index = regexp.MustCompile(`\[\d+\]`)

// Call is the call of a tool that was refused.
type Call struct {
	Set       toolset.Set
	Tool      string // its own name
	Arguments json.RawMessage
	Repeated  bool // calls of the API that are not answered are repeated while a server restarts
}

// argument returns the name that the tool has for a field of the API, with the place in it that the field names; ok is false if it has none.
func (c Call) argument(field string) (name string, ok bool) {
	for inside.MatchString(field) {
		field = inside.ReplaceAllString(field, "")
	}
	var given map[string]json.RawMessage
	_ = json.Unmarshal(c.Arguments, &given) // arguments that are no object were refused before
	has := func(name string) bool { return !argument.Blank(given[name]) }
	for whole := field; whole != ""; {
		plain := index.ReplaceAllString(whole, "")
		names := arguments[plain]
		if of := subjects[c.Tool]; plain == "id" && of != nil {
			names = of
		}
		names = append(slices.Clone(names), plain)
		if i := slices.IndexFunc(names, has); i >= 0 {
			place := strings.TrimPrefix(field, whole)
			if places := index.FindAllString(whole, -1); strings.HasSuffix(whole, "]") {
				place = places[len(places)-1] + place
			}
			return names[i] + place, true
		}
		whole = whole[:max(strings.LastIndexAny(whole, ".["), 0)]
	}
	return "", false
}

// said returns the message and the details of a refusal with the names that the tool has for the fields of the API that are wrong.
func (c Call) said(e *client.Error) (message string, details map[string]any) {
	if field, ok := e.Details["field"].(string); ok {
		if name, ok := c.argument(field); ok {
			details = maps.Clone(e.Details)
			details["field"] = name
			return about(name, field, e.Message), details
		}
	}
	several, _ := e.Details["fields"].([]any)
	message = e.Message
	for _, one := range several {
		field, _ := one.(map[string]any)["field"].(string)
		if name, ok := c.argument(field); ok {
			message = strings.Replace(message, field+": ", name+": ", 1)
		}
	}
	return message, e.Details
}

// about returns a message about a field, which may begin with its name, as one that begins with the name of the argument.
func about(name, field, message string) string {
	if strings.HasPrefix(message, name+" ") || strings.HasPrefix(message, name+":") {
		return message
	}
	for inside.MatchString(field) && !strings.HasPrefix(message, field+":") {
		field = inside.ReplaceAllString(field, "")
	}
	return fmt.Sprintf("%s: %s", name, strings.TrimPrefix(message, field+": "))
}
