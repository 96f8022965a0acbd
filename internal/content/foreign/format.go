package foreign

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// intentFields are the fields of a task context that may hold the intent, the best first.
var intentFields = []string{"original_task", "intent", "task", "goal", "summary", "description", "title"}

// handoffDocument reads the format with an audit trail. Its task context is a JSON object of the sender's own design and is
// kept whole, in the data.
func (d *document) handoffDocument() {
	d.claim("task_id", "handoff_id", "from_agent", "audit_trail", "created_at", "timestamp")
	d.list("audit_trail")
	d.task.Target = d.agent("to_agent")
	d.reason("handoff_reason")
	d.priority()
	d.timeout()
	raw, ok := d.take("task_context")
	if !ok {
		d.fail(wrong("task_context", "send the context of the task as an object", "is missing"))
		return
	}
	var context map[string]json.RawMessage
	switch {
	case jsonType(raw) == "text": // the task in words, and nothing else
		d.task.Intent = d.asText("task_context", raw, event.MaxIntent)
	case json.Unmarshal(raw, &context) != nil || context == nil:
		d.fail(wrong("task_context", "send an object", "is %s, not an object", jsonType(raw)))
		return
	default:
		d.data["task_context"] = raw
		d.context(context)
	}
	d.permissions("permissions", d.fields["permissions"])
	delete(d.fields, "permissions")
	for _, name := range []string{"dependencies", "depends_on"} {
		d.keep(name, otherTasks)
	}
}

const otherTasks = "these are tasks of another system, which a task here cannot wait for"

// context reads the parts of a task context that have a field in [Task].
func (d *document) context(context map[string]json.RawMessage) {
	for _, name := range intentFields {
		if raw, ok := context[name]; ok && jsonType(raw) == "text" {
			d.task.Intent = d.asText("task_context."+name, raw, event.MaxIntent)
			if strings.TrimSpace(d.task.Intent) != "" {
				d.note("task_context."+name, "used as the intent; the whole context is kept in data.task_context")
				break
			}
		}
	}
	if d.task.Intent == "" {
		d.fail(wrong("task_context.summary", "describe what is wanted there, or in task_context.intent", "is missing or empty"))
	}
	d.permissions("task_context.permissions", context["permissions"])
	for _, name := range []string{"depends_on", "dependencies"} {
		if _, ok := context[name]; ok {
			d.note("task_context."+name, otherTasks+"; kept in data.task_context."+name)
		}
	}
}

// handoffContext reads the format with facts, decisions and confidence.
func (d *document) handoffContext() {
	d.claim("source_agent", "handoff_id", "task_id", "created_at")
	if raw, ok := d.claimed["created_at"]; ok {
		d.asMoment("created_at", raw)
	}
	c := &d.task.Content
	d.task.Intent = d.text("original_task", event.MaxIntent)
	d.task.Target = d.agent("target_agent")
	d.reason("reason")
	d.priority()
	d.timeout()
	d.expiry()
	c.State = d.text("current_state", event.MaxIntent)
	c.Summary = d.text("conversation_summary", event.MaxIntent)
	c.Facts = d.points("key_facts", "f")
	c.Decisions = d.points("decisions_made", "d")
	c.Questions = d.texts("open_questions")
	c.Confidence = d.number("confidence", 0, 1)
	if raw, ok := d.take("collected_data"); ok {
		d.data["collected_data"] = raw
	}
}

// memoryEnvelope reads the format with memory references and a token limit.
func (d *document) memoryEnvelope() {
	if raw, ok := d.fields["envelope_version"]; ok {
		version := strings.Trim(string(raw), `" `)
		if major, _, _ := strings.Cut(version, "."); major != "2" {
			d.fail(wrong("envelope_version", "send version 2", "%.20s is unknown: only version 2 is supported", raw))
		}
	}
	d.claim("envelope_version", "source_agent", "execution_history", "created_at")
	d.list("execution_history")
	d.task.Intent = d.text("task_summary", event.MaxIntent)
	d.note("task_summary", "used as the intent")
	d.task.Target = d.agent("target_agent")
	d.priority()
	d.task.IncludeRecent = d.whole("include_recent", 10_000)
	if d.task.IncludeRecent > 0 {
		d.note("include_recent", "recent items of this server go along with a handoff, not those of the other system")
	}
	d.alsoClaim("include_pins")
	if _, ok := d.fields["include_pins"]; ok {
		d.task.IncludePins = d.flag("include_pins")
		d.note("include_pins", "kept as claimed: items that are pinned here always go along")
	}
	d.expiry()
	d.task.Memory = d.texts("memory_refs")
	if n := len(d.task.Memory); n > 0 {
		d.note("memory_refs", "memory items of another system: kept as references that nothing resolves yet")
	}
	d.constraints()
}

// expiry takes the time until which the document counts.
func (d *document) expiry() {
	d.alsoClaim("expires_at")
	d.task.Expires = d.moment("expires_at")
	if !d.task.Expires.IsZero() {
		d.note("expires_at", "kept as claimed: it is the expiry of the document, not a deadline of the task")
	}
}

// list checks that a claimed field, which is kept as it is, is a list.
func (d *document) list(name string) {
	if raw, ok := d.claimed[name]; ok {
		if jsonType(raw) != "a list" {
			d.fail(wrong(name, "send a list", "is %s, not a list", jsonType(raw)))
		}
		d.note(name, "kept word for word as claimed history; it becomes no entry of this record")
	}
}

func (d *document) agent(name string) string {
	d.alsoClaim(name)
	s := d.text(name, event.MaxText)
	if s != "" {
		if err := event.CheckName("an agent's name", s); err != nil {
			d.fail(at(name, err))
		}
	}
	return s
}

// word normalises a value of a closed set: "Capability-Mismatch" becomes capability_mismatch.
func word(s string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(s)))
}

// reason keeps an unknown reason as the detail of the handoff.
func (d *document) reason(name string) {
	d.alsoClaim(name)
	s := d.text(name, event.MaxText)
	if s == "" {
		return
	}
	if r := event.Reason(word(s)); slices.Contains(event.Reasons.Values(), r) {
		d.task.Reason = r
		return
	}
	d.task.Detail = s
	d.note(name, "is not one of the reasons "+list(event.Reasons.Values())+"; used as the detail of the handoff")
}

// priorities are synonyms of priorities.
var priorities = map[string]event.Priority{
	"medium": event.Normal, "default": event.Normal, "critical": event.Urgent, "highest": event.Urgent, "lowest": event.Low,
}

func (d *document) priority() {
	s := d.text("priority", event.MaxText)
	if s == "" {
		return
	}
	p := event.Priority(word(s))
	if other, ok := priorities[word(s)]; ok {
		p = other
		d.note("priority", "used as "+string(p))
	}
	if !slices.Contains(event.Priorities.Values(), p) {
		d.fail(wrong("priority", "use one of "+list(event.Priorities.Values()), "%.40q is not a priority", s))
	}
	d.task.Priority = p
}

// timeout takes the time that the receiver has to answer.
func (d *document) timeout() {
	const name = "timeout_seconds"
	raw, ok := d.take(name)
	if !ok {
		return
	}
	least, most := event.MinDuration.Seconds(), event.MaxDuration.Seconds()
	if f := d.asNumber(name, raw, least, most); f != nil {
		d.task.Timeouts.Ack = event.Duration(*f * 1e9)
		if d.task.Timeouts.Ack < event.Duration(event.MinAck) {
			d.task.Timeouts.Ack = event.Duration(event.MinAck)
			d.note(name, "raised to the least, "+event.MinAck.String())
		}
	}
}

// permissions takes a list of names, or an object of verbs with lists of their objects: {"read":["ledger"]} becomes
// ledger:read.
func (d *document) permissions(field string, raw json.RawMessage) {
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	names := []string{}
	if jsonType(raw) == "an object" {
		var verbs map[string]json.RawMessage
		if err := json.Unmarshal(raw, &verbs); err != nil {
			d.fail(wrong(field, "send an object", "cannot be read"))
		}
		for _, verb := range slices.Sorted(maps.Keys(verbs)) {
			for _, on := range d.asTexts(field+"."+verb, verbs[verb]) {
				names = append(names, on+":"+verb)
			}
		}
		d.note(field, "written as "+strconv.Quote(strings.Join(names, ", ")))
	} else {
		names = append(names, d.asTexts(field, raw)...)
	}
	if d.task.Permissions != nil {
		d.fail(wrong(field, "give them once", "are given in two places"))
	}
	if err := event.CheckNewLabels("a permission", names, event.MaxPermissions); err != nil {
		d.fail(at(field, err))
	}
	d.task.Permissions = names
}
