package erasures

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/conversation/conversationid"
	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/seal"
	"github.com/trapezehq/trapeze/internal/record/stream"
)

// findPage is the number of entries that are read at a time.
const findPage = 500

// found is what a subject names.
type found struct {
	subject   erasure.Subject
	workspace string
	tasks     map[string]bool
	roots     []string        // tasks whose parents are not among them
	items     map[string]bool // memory items
	talks     map[string]bool // conversations
	files     map[string]bool // digests of artifacts that envelopes refer to
	left      map[ledger.Stream]int
	last      map[ledger.Stream]time.Time // of the last entry of tasks, conversations and memory items
	parents   map[string]string           // of the tasks
	itemsOf   map[string][]string         // memory items of each conversation
	topics    map[string]string           // the subjects of conversations
	users     map[string]map[string]bool  // of each conversation, the tasks that belong to it or logged in it
}

func newFound(workspace string, s erasure.Subject) *found {
	return &found{
		subject: s, workspace: workspace, tasks: map[string]bool{}, items: map[string]bool{}, talks: map[string]bool{}, files: map[string]bool{},
		left: map[ledger.Stream]int{}, last: map[ledger.Stream]time.Time{}, parents: map[string]string{}, itemsOf: map[string][]string{}, topics: map[string]string{}, users: map[string]map[string]bool{},
	}
}

// find goes through the record for what a subject names: a task comes after its parent there, and an item after its task.
func (es *Erasures) find(ctx context.Context, workspace string, s erasure.Subject) (*found, error) {
	f := newFound(workspace, s)
	for after := ledger.Position(0); ; {
		list, err := ledger.Page(ctx, es.p.Ledger, after, findPage)
		for i := range list {
			after = list[i].Position
			f.add(&list[i])
		}
		if err != nil { // what a damaged entry names is not known, so that the rest is not reported as all
			return nil, stream.Unavailable(err)
		}
		if len(list) == 0 {
			f.addTalks()
			return f, nil
		}
	}
}

func (f *found) add(e *ledger.Entry) {
	workspace, kind, id := e.Stream.Parts()
	if workspace != f.workspace {
		return
	}
	switch kind {
	case ledger.TaskKind:
		f.addTask(e, id)
	case "memory":
		f.addItem(e, id)
	case "conversation":
		f.addTurns(e, id)
	default:
		return
	}
	f.last[e.Stream] = e.Time
	if e.Enc != ledger.EncSealed && seal.HasContent(*e) {
		f.left[e.Stream]++
	}
}

// addTask adds a task that the subject names, and the files of one.
func (f *found) addTask(e *ledger.Entry, id string) {
	for _, ev := range e.Events {
		switch ev.Name {
		case event.Created{}.EventName():
			var made struct {
				Parent       event.Parent
				Tags         []string
				Subject      string
				Conversation string
			}
			if json.Unmarshal(ev.Data, &made) != nil {
				continue
			}
			f.use(made.Conversation, id)
			child := f.tasks[made.Parent.Task]
			if child || f.names(erasure.Task, id, made.Subject) || f.subject.Kind == erasure.Tag && slices.Contains(made.Tags, f.subject.Name) {
				f.tasks[id] = true
				f.parents[id] = made.Parent.Task
				if !child {
					f.roots = append(f.roots, id)
				}
			}
		case event.Sealed{}.EventName(), event.Rendered{}.EventName():
			if f.tasks[id] {
				f.addFiles(ev.Data)
			}
		}
	}
}

// addFilesOf adds the artifacts of the envelopes in an entry.
func (f *found) addFilesOf(e *ledger.Entry) {
	for _, ev := range e.Events {
		if ev.Name == (event.Sealed{}).EventName() || ev.Name == (event.Rendered{}).EventName() {
			f.addFiles(ev.Data)
		}
	}
}

// addFiles adds the artifacts of an envelope.
func (f *found) addFiles(data []byte) {
	var held struct {
		Envelope struct {
			Artifacts []struct {
				Digest string `json:"digest"`
			} `json:"artifacts"`
		} `json:"envelope"`
	}
	if json.Unmarshal(data, &held) == nil { // it is an envelope, and was not erased
		for _, a := range held.Envelope.Artifacts {
			f.files[a.Digest] = true
		}
	}
}

// addItem adds a memory item that the subject names, or that was made in the course of one of its tasks.
func (f *found) addItem(e *ledger.Entry, id string) {
	for _, ev := range e.Events {
		if ev.Name != (memory.ItemStored{}).EventName() {
			continue
		}
		var made struct {
			Task, Conversation, Subject string
			Source                      memory.Source
		}
		if json.Unmarshal(ev.Data, &made) != nil {
			continue
		}
		f.itemsOf[made.Conversation] = append(f.itemsOf[made.Conversation], id)
		if f.names(erasure.Memory, id, made.Subject) || f.namesTalk(made.Conversation) || f.tasks[made.Task] || f.tasks[made.Source.Task] {
			f.items[id] = true
		}
	}
}

// addTurns notes which tasks log in a conversation.
func (f *found) addTurns(e *ledger.Entry, id string) {
	for _, ev := range e.Events {
		var said struct {
			Turn    struct{ Task string }
			Subject string
		}
		if ev.Name == (conversation.TurnAppended{}).EventName() && json.Unmarshal(ev.Data, &said) == nil {
			f.use(id, said.Turn.Task)
			if f.names(erasure.Conversation, id, said.Subject) || f.namesTalk(id) {
				f.talks[id] = true
			}
			if said.Subject != "" {
				f.topics[id] = said.Subject
			}
		}
	}
}

// names reports whether the subject names a task, a conversation or a memory item, by its id or by the subject that it was made with.
func (f *found) names(kind erasure.Kind, id, of string) bool {
	return f.subject == erasure.Subject{Kind: kind, Name: id} || of != "" && f.subject == erasure.Subject{Kind: erasure.Named, Name: of}
}

// namesTalk reports whether the subject names a conversation by its id, or all of its name.
func (f *found) namesTalk(id string) bool {
	return f.subject.Kind == erasure.Conversation && (f.subject.Name == id || f.subject.Name == conversationid.Name(id))
}

// addTalkNames adds the subjects that name a conversation.
func addTalkNames(id string, names map[erasure.Subject]bool) {
	if id != "" {
		names[erasure.Subject{Kind: erasure.Conversation, Name: id}] = true
		names[erasure.Subject{Kind: erasure.Conversation, Name: conversationid.Name(id)}] = true
	}
}

// addTalk adds the subjects that name a conversation, the one that it is about among them.
func (f *found) addTalk(talk string, names map[erasure.Subject]bool) {
	addTalkNames(talk, names)
	if of := f.topics[talk]; of != "" {
		names[erasure.Subject{Kind: erasure.Named, Name: of}] = true
	}
}

func (f *found) use(talk, task string) {
	if talk == "" {
		return
	}
	if f.users[talk] == nil {
		f.users[talk] = map[string]bool{}
	}
	if task != "" {
		f.users[talk][task] = true
	}
}

// addTalks adds the conversations that belong to the tasks alone, with their memory items.
func (f *found) addTalks() {
	for talk, by := range f.users {
		own := len(by) > 0
		for task := range by {
			own = own && f.tasks[task]
		}
		if own {
			f.talks[talk] = true
		}
	}
	for talk := range f.talks {
		for _, id := range f.itemsOf[talk] {
			f.items[id] = true
		}
	}
}

// kept lists what else has content of the tasks: their parents, and conversations that others take part in.
func (f *found) kept() (list []string) {
	for _, root := range f.roots {
		if p := f.parents[root]; p != "" {
			list = append(list, erasure.Subject{Kind: erasure.Task, Name: p}.String())
		}
	}
	for talk, by := range f.users {
		shared := false
		for task := range by {
			shared = shared || f.tasks[task]
		}
		if shared && !f.talks[talk] {
			list = append(list, erasure.Subject{Kind: erasure.Conversation, Name: talk}.String())
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// streams lists the streams that are erased, and how many of their entries are not sealed.
func (f *found) streams() (list []ledger.Stream, left int) {
	for _, of := range []struct {
		kind string
		ids  map[string]bool
	}{{"task", f.tasks}, {"conversation", f.talks}, {"memory", f.items}} {
		for _, id := range slices.Sorted(maps.Keys(of.ids)) {
			s := ledger.StreamOf(f.workspace, of.kind, id)
			list, left = append(list, s), left+f.left[s]
		}
	}
	return list, left
}
