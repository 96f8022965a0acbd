package view

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// intent is the field of [event.Created] that some callers read in whole, though no other content.
const intent = "intent"

// content lists, of each event, the fields that say what a task says: texts of agents and people, envelopes, results. A path goes through
// arrays. Every other field says what happened, when and by whom. A test holds the list against the types of the events.
var content = map[string][]string{
	event.Created{}.EventName():          {intent, "claimed_history"},
	event.Sealed{}.EventName():           {"envelope"},
	event.Rendered{}.EventName():         {"envelope"},
	event.Progressed{}.EventName():       {"note"},
	event.Finished{}.EventName():         {"result"},
	event.GaveUp{}.EventName():           {"result", "detail"},
	event.Called{}.EventName():           {"detail"},
	event.OwnerStuck{}.EventName():       {"detail"},
	event.ParkedTask{}.EventName():       {"detail"},
	event.Replayed{}.EventName():         {"note"},
	event.BudgetRaised{}.EventName():     {"why"},
	event.Discarded{}.EventName():        {"why"},
	event.Lifted{}.EventName():           {"why"},
	event.Annotated{}.EventName():        {"note"},
	event.GapReported{}.EventName():      {"missing", "detail"},
	event.Shared{}.EventName():           {"detail"},
	event.HandoffRequested{}.EventName(): {"detail"},
	event.Approved{}.EventName():         {"detail"},
	event.Denied{}.EventName():           {"detail"},
	event.Confirmed{}.EventName():        {"detail"},
	event.RejectedOffer{}.EventName():    {"missing", "detail"},
	event.Returned{}.EventName():         {"why"},
	event.OfferShed{}.EventName():        {"why"},
	event.TakeoverAsked{}.EventName():    {"detail"},
	event.TakeoverRefused{}.EventName():  {"detail"},
	event.AdviceTaken{}.EventName():      {"prompt", "answer", "why"},
	event.Spawned{}.EventName():          {"detail", "children.intent"},
	event.ChildEnded{}.EventName():       {"result", "why"},
	event.Joined{}.EventName():           {"result"},
	event.TicketOpened{}.EventName():     {"question", "options"},
	event.TicketReleased{}.EventName():   {"detail"},
	event.TicketEscalated{}.EventName():  {"why"},
	event.TicketClosed{}.EventName():     {"answer", "detail"},
}

// Texts are the texts of an entry of a task that say what the task says: those that [Withhold] leaves out.
func Texts(e ledger.Entry) (texts []string) {
	for _, ev := range e.Events {
		var fields any
		if len(content[ev.Name]) == 0 || json.Unmarshal(ev.Data, &fields) != nil {
			continue
		}
		for _, path := range content[ev.Name] {
			texts = addTexts(texts, fields, strings.Split(path, "."))
		}
	}
	return texts
}

// addTexts adds the texts at a path of a value, and below it.
func addTexts(texts []string, v any, path []string) []string {
	switch v := v.(type) {
	case string:
		if len(path) == 0 {
			texts = append(texts, v)
		}
	case []any:
		for _, each := range v {
			texts = addTexts(texts, each, path)
		}
	case map[string]any:
		if len(path) > 0 {
			return addTexts(texts, v[path[0]], path[1:])
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			texts = addTexts(texts, v[name], nil)
		}
	}
	return texts
}

// Withhold returns an entry of a task without its content. Digests are kept, and the intent if that is asked for.
//
// An entry of which something is withheld has other bytes than the recorded one, also if that is sealed.
func Withhold(e ledger.Entry, keepIntent bool) ledger.Entry {
	changed := false
	events := make([]ledger.Event, len(e.Events))
	for i, ev := range e.Events {
		data := ev.Data
		for _, path := range content[ev.Name] {
			if path != intent || !keepIntent {
				data = withhold(data, strings.Split(path, "."))
			}
		}
		changed = changed || !bytes.Equal(data, ev.Data)
		events[i] = ledger.Event{Name: ev.Name, Version: ev.Version, Data: data}
	}
	if changed {
		e = e.Plain()
	}
	e.Events = events
	return e
}

// withhold replaces the values at a path by a note, so that events still decode. Data that cannot be parsed is withheld as a whole.
func withhold(data json.RawMessage, path []string) json.RawMessage {
	if bytes.Equal(data, []byte("null")) {
		return data
	}
	if len(path) == 0 {
		if bytes.HasPrefix(data, []byte("[")) {
			return json.RawMessage(`["withheld"]`)
		}
		return json.RawMessage(`"withheld"`)
	}
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil {
		for i := range list {
			list[i] = withhold(list[i], path)
		}
		return encoded(list)
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return json.RawMessage(`{}`)
	}
	switch old, there := all[path[0]]; {
	case there && path[0] == "result":
		all[path[0]] = json.RawMessage(`{"text":"withheld"}`)
	case there:
		all[path[0]] = withhold(old, path[1:])
	}
	return encoded(all)
}

func encoded(v any) json.RawMessage {
	out, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return out
}
