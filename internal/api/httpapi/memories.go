package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// MemoryPage is one page of memory items.
type MemoryPage struct {
	Items    []memories.Item `json:"items"`
	Next     uint64          `json:"next,omitempty" doc:"The parameter after of the next page; absent at the end, and of what is ranked."`
	Position uint64          `json:"position" doc:"Up to which the list is complete."`
}

// At implements [endpoint.Placed].
func (p MemoryPage) At() uint64 { return p.Position }

// MemoryVersions are some versions of a memory item.
type MemoryVersions struct {
	ID       string             `json:"id"`
	Versions []memories.Version `json:"versions" doc:"Oldest first."`
	Count    int                `json:"count" doc:"How many there are in all."`
	Position uint64             `json:"position"`
}

// At implements [endpoint.Placed].
func (v MemoryVersions) At() uint64 { return v.Position }

type memorySearch struct {
	endpoint.Reading
	Query        string       `query:"q" maxLength:"2000" doc:"Words to be found in titles, texts and tags; an item need not have all of them. The best come first. Left out: the newest come first."`
	Tag          string       `query:"tag" maxLength:"64" doc:"Only items with this tag."`
	Agent        string       `query:"agent" maxLength:"200" doc:"Only items of this author: an agent by name, or a principal such as operator/ann."`
	Task         string       `query:"task" maxLength:"80" doc:"Only items of this task."`
	Conversation string       `query:"conversation" maxLength:"64" doc:"Only items of this conversation."`
	Scope        memory.Scope `query:"scope" doc:"Only items in this scope."`
	Pinned       bool         `query:"pinned" doc:"Only pinned items."`
	Since        time.Time    `query:"since" doc:"Only items whose newest version was written then or later."`
	Until        time.Time    `query:"until" doc:"Only items whose newest version was written before then."`
	Limit        int          `query:"limit" minimum:"1" maximum:"500" doc:"At most this many; 20 with q, otherwise 50."`
	After        uint64       `query:"after" doc:"The next of the page before; not with q."`
}

type memoryQuery struct {
	endpoint.Reading
	ID      string `path:"id" maxLength:"80" doc:"Id, as other answers give it."`
	Version int    `query:"version" minimum:"1" doc:"That of a reference; without a digest, the version that is wanted."`
	Digest  string `query:"digest" maxLength:"80" doc:"That of a reference: the status says what has become of it."`
	Task    string `query:"task" maxLength:"80" doc:"Whose envelope refers to the item, for those who can read it by that alone. Left out: the newest tasks that you hold are looked through."`
}

type versionsQuery struct {
	endpoint.Reading
	ID    string `path:"id" maxLength:"80" doc:"Id, as other answers give it."`
	Limit int    `query:"limit" minimum:"1" maximum:"500" doc:"At most this many; 50 if left out."`
	After int    `query:"after" minimum:"0" doc:"Only versions after this one."`
}

func (s *service) memories() {
	post := func(verb, summary string) endpoint.Route {
		return endpoint.Route{Method: http.MethodPost, Path: "/v1/memory/{id}/" + verb, ID: verb + "-memory", Summary: summary, Tag: endpoint.TagMemory}
	}
	endpoint.Create(s.door, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/memory", ID: "remember", Summary: "Store a memory item", Tag: endpoint.TagMemory, Status: http.StatusCreated,
	}, s.app.Remember)
	endpoint.Read(s.door, endpoint.Route{
		Path: "/v1/memory", ID: "search-memory", Summary: "Find memory items, or list them", Tag: endpoint.TagMemory,
		About: "Only those that you may read, each with an excerpt. What is given is on record.",
	}, s.searchMemory)
	endpoint.Read(s.door, endpoint.Route{
		Path: "/v1/memory/{id}", ID: "show-memory", Summary: "Read a memory item", Tag: endpoint.TagMemory,
		About: "Or what a reference of an envelope names: the newest version for those who may read the item, the very version " +
			"for those to whom only the envelope grants it. The read is on record.",
	}, func(ctx context.Context, c tasks.Caller, in *memoryQuery) (memories.Item, error) {
		return s.app.Memory(ctx, c, memories.MemoryInput{ID: in.ID, Version: in.Version, Digest: in.Digest, Task: in.Task})
	})
	endpoint.Read(s.door, endpoint.Route{Path: "/v1/memory/{id}/versions", ID: "memory-versions", Summary: "Read the versions of a memory item", Tag: endpoint.TagMemory},
		func(ctx context.Context, c tasks.Caller, in *versionsQuery) (MemoryVersions, error) {
			v, err := s.app.MemoryVersions(ctx, c, memories.VersionsInput{ID: in.ID, After: in.After, Limit: in.Limit})
			return MemoryVersions{ID: v.ID, Versions: endpoint.NotNil(v.Versions), Count: v.Count, Position: uint64(v.Position)}, err
		})
	endpoint.Change(s.door, post("revise", "Add a version"), func(ctx context.Context, c tasks.Caller, id string, in memories.ReviseInput) (memories.Item, error) {
		in.ID = id
		return s.app.Revise(ctx, c, in)
	})
	endpoint.Act(s.door, post("pin", "Put it into every envelope that may hold it"), s.app.Pin)
	endpoint.Act(s.door, post("unpin", "Undo pin"), s.app.Unpin)
	endpoint.Change(s.door, post("tag", "Replace its tags"), func(ctx context.Context, c tasks.Caller, id string, in memories.TagInput) (memories.Item, error) {
		in.ID = id
		return s.app.Tag(ctx, c, in)
	})
	endpoint.Change(s.door, post("weigh", "Say how important it is"), func(ctx context.Context, c tasks.Caller, id string, in memories.WeighInput) (memories.Item, error) {
		in.ID = id
		return s.app.Weigh(ctx, c, in)
	})
	endpoint.Act(s.door, post("forget", "End the giving out of its content, for good"), s.app.Forget)
}

func (s *service) searchMemory(ctx context.Context, c tasks.Caller, in *memorySearch) (MemoryPage, error) {
	out := MemoryPage{Position: uint64(s.app.Views().Position())}
	q := memories.SearchInput{
		Text: in.Query, Tag: in.Tag, Agent: in.Agent, Task: in.Task, Conversation: in.Conversation, Scope: in.Scope, Pinned: in.Pinned,
		Since: in.Since, Until: in.Until, Limit: in.Limit,
	}
	endpoint.SetPosition(&q.After, in.After)
	found, err := s.app.SearchMemory(ctx, c, q)
	out.Items, out.Next = endpoint.NotNil(found.Items), uint64(found.Next)
	return out, err
}
