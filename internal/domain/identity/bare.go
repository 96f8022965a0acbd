package identity

import (
	"bytes"
	"encoding/json"
	"regexp"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// agentRole begins a principal that is an agent.
const agentRole = string(Agent) + "/"

// principals are the fields of JSON documents that name a principal, or several.
var principals = setOf("actor", "agent", "agents", "allow_by", "approver", "author", "by", "chain", "claimed_by", "closed_by", "created_by", "escalation", "fallbacks", "for", "from", "from_agent", "granted",
	"hard_by", "max_by", "openers", "origin", "owner", "pinned_by", "principal", "requester", "route", "seen_by", "sender", "setter", "subscribers", "text_by", "tightened_by", "to", "to_agent")

// opaque are the fields of JSON documents whose content is not the server's: data of agents, and sealed documents, which have a digest.
var opaque = setOf("claimed_history", "context", "data", "document", "envelope", "schema", "task_context")

func setOf(names ...string) map[string]bool {
	set := map[string]bool{}
	for _, n := range names {
		set[n] = true
	}
	return set
}

var anAgent = regexp.MustCompile(`^agent/[a-z0-9][a-z0-9._-]*(~[0-9]+)?$`)

// BareQuery changes the values of parameters that name a principal, as [BareAgents] does.
func BareQuery(parameters map[string][]string) {
	for name, values := range parameters {
		for i := range values {
			if principals[name] && anAgent.MatchString(values[i]) {
				values[i] = event.Bare(values[i])
			}
		}
	}
}

// level is an object or array of a JSON document.
type level struct {
	object bool
	key    string // the field whose value comes next; of an array, the field that it is the value of
	value  bool   // a value comes next, no name of a field
	of     string // the field that an object is the value of
	opaque bool
}

// principal reports whether the value names a principal, or the escalation chain of an agent, which has the name of the agent.
func (l *level) principal() bool {
	return principals[l.key] || l.key == "name" && l.of == "chain"
}

// BareAgents returns a JSON document in which every field that names a principal names agents by their bare name ([event.Bare]), so that an agent has one
// spelling wherever it is read. The record keeps the principal; its bytes never change. Texts, data of agents and sealed documents stay as they are. A
// document that is not JSON is returned as it is.
func BareAgents(doc []byte) []byte {
	if !bytes.Contains(doc, []byte(`"`+agentRole)) {
		return doc
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	out, copied := make([]byte, 0, len(doc)), 0
	for in := []level{{value: true}}; ; {
		token, err := d.Token()
		if err != nil { // the end, or no JSON
			return append(out, doc[copied:]...)
		}
		top := &in[len(in)-1]
		switch token := token.(type) {
		case json.Delim:
			if token == '}' || token == ']' {
				in = in[:len(in)-1]
				top = &in[len(in)-1]
				break
			}
			in = append(in, level{object: token == '{', key: top.key, of: top.key, value: token == '[', opaque: top.opaque || opaque[top.key]})
			continue
		case string:
			if !top.value {
				top.key, top.value = token, true
				continue
			}
			end := int(d.InputOffset())
			if from := end - len(token) - 2; !top.opaque && top.principal() && anAgent.MatchString(token) && from >= copied && string(doc[from+1:end-1]) == token {
				out = append(append(out, doc[copied:from+1]...), event.Bare(token)...)
				copied = end - 1
			}
		}
		top.value = !top.object
	}
}
