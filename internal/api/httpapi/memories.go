package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/positions"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
)

// MemoryPage is one page of memory items.
type MemoryPage struct {
	Items []memories.Item    `json:"items"`
	Next  positions.Position `json:"next,omitempty" doc:"Parameter after for the next page; absent on the last page and in ranked results."`
	endpoint.Listed
}

// MemoryVersions is one page of the versions of a memory item.
type MemoryVersions struct {
	ID       string             `json:"id"`
	Versions []memories.Version `json:"versions" doc:"Oldest first."`
	Count    int                `json:"count" doc:"Total number of versions."`
	endpoint.Listed
}

type memorySearch struct {
	endpoint.Reading
	Query        string             `query:"q" maxLength:"2000" doc:"Words to find in titles, texts and tags; an item need not have all of them. Best match first. If omitted: newest first."`
	Tag          string             `query:"tag" maxLength:"64" doc:"Only items with this tag."`
	Agent        string             `query:"agent" maxLength:"200" doc:"Only items of this author: an agent by name, or a principal such as operator/ann."`
	Task         string             `query:"task" maxLength:"80" doc:"Only items of this task."`
	Conversation string             `query:"conversation" maxLength:"140" doc:"Only items of this conversation, by its id, or of all with this name."`
	Scope        memory.Scope       `query:"scope" doc:"Only items in this scope."`
	Pinned       bool               `query:"pinned" doc:"Only pinned items."`
	Proposed     bool               `query:"proposed" doc:"Only items that an agent proposes to pin for the whole workspace; an operator agrees by pinning them."`
	Since        time.Time          `query:"since" doc:"Only items whose newest version was written then or later."`
	Until        time.Time          `query:"until" doc:"Only items whose newest version was written before then."`
	Limit        int                `query:"limit" minimum:"1" maximum:"500" doc:"Maximum number; if omitted, 20 with q and 50 without."`
	After        positions.Position `query:"after" doc:"Field next of the previous page; not with q."`
}

type memoryQuery struct {
	endpoint.Reading
	ID      string `path:"id" maxLength:"80" doc:"Id."`
	Version int    `query:"version" minimum:"1" doc:"Version of a reference; without digest, the version to read."`
	Digest  string `query:"digest" maxLength:"80" doc:"Digest of a reference: the status in the answer says whether it is current, revised or forgotten."`
	Task    string `query:"task" maxLength:"80" doc:"Task whose envelope refers to the item, for callers that may read the item only through the envelope. If omitted: the newest tasks that you own are tried."`
}

type versionsQuery struct {
	endpoint.Reading
	ID    string `path:"id" maxLength:"80" doc:"Id."`
	Limit int    `query:"limit" minimum:"1" maximum:"500" doc:"Maximum number; 50 if omitted."`
	After int    `query:"after" minimum:"0" doc:"Only versions after this one."`
}

func (s *service) memories() {
	post := func(verb, summary string) endpoint.Route {
		return endpoint.Route{Method: http.MethodPost, Path: "/v1/memory/{id}/" + verb, ID: verb + "-memory", Summary: summary, Tag: endpoint.TagMemory}
	}
	endpoint.Create(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/memory", ID: "remember", Summary: "Store a memory item", Tag: endpoint.TagMemory, Status: http.StatusCreated,
	}, s.app.Memories.Remember)
	endpoint.Read(s.router, endpoint.Route{
		Path: "/v1/memory", ID: "search-memory", Summary: "Search or list memory items", Tag: endpoint.TagMemory,
		About: "Returns the items that you may read, each with an excerpt. The read is recorded.",
	}, s.searchMemory)
	endpoint.Read(s.router, endpoint.Route{
		Path: "/v1/memory/{id}", ID: "show-memory", Summary: "Read a memory item", Tag: endpoint.TagMemory,
		About: "Or the item of a reference in an envelope: the newest version if you may read the item, the referenced version " +
			"if only the envelope permits it. The read is recorded.",
	}, func(ctx context.Context, c caller.Caller, in *memoryQuery) (memories.Item, error) {
		return s.app.Memories.Show(ctx, c, memories.MemoryInput{ID: in.ID, Version: in.Version, Digest: in.Digest, Task: in.Task})
	})
	endpoint.Read(s.router, endpoint.Route{Path: "/v1/memory/{id}/versions", ID: "memory-versions", Summary: "Read the versions of a memory item", Tag: endpoint.TagMemory},
		func(ctx context.Context, c caller.Caller, in *versionsQuery) (MemoryVersions, error) {
			v, err := s.app.Memories.Versions(ctx, c, memories.VersionsInput{ID: in.ID, After: in.After, Limit: in.Limit})
			return MemoryVersions{ID: v.ID, Versions: endpoint.NotNil(v.Versions), Count: v.Count, Listed: endpoint.Listed{Position: v.Position}}, err
		})
	endpoint.Change(s.router, post("revise", "Add a version of a memory item"), endpoint.Under(func(in *memories.ReviseInput) *string { return &in.ID }, s.app.Memories.Revise))
	pin := post("pin", "Pin a memory item: it goes into every envelope that may contain it")
	pin.About = "An item for the whole workspace that an agent pins is only proposed, as the answer says (proposed): it counts once an operator pins it, " +
		"too, and until an agent revises it. An agent holds at most 32 pins."
	endpoint.Act(s.router, pin, s.app.Memories.Pin)
	endpoint.Act(s.router, post("unpin", "Unpin a memory item"), s.app.Memories.Unpin)
	endpoint.Change(s.router, post("tag", "Replace the tags of a memory item"), endpoint.Under(func(in *memories.TagInput) *string { return &in.ID }, s.app.Memories.Tag))
	endpoint.Change(s.router, post("weigh", "Set the importance of a memory item"), endpoint.Under(func(in *memories.WeighInput) *string { return &in.ID }, s.app.Memories.Weigh))
	forget := post("forget", "Forget a memory item: its content is never returned again")
	forget.About = "Not by a reference, a search, an envelope, a trail or an export, to nobody. In an erasable record it is erased, too, unless a legal hold is on it, except in " +
		"envelopes that have it, until their tasks are erased. What the record keeps, an operator can export with forgotten=true. What others copied, such as into a fact, stays."
	endpoint.Act(s.router, forget, s.app.Memories.Forget)
}

func (s *service) searchMemory(ctx context.Context, c caller.Caller, in *memorySearch) (MemoryPage, error) {
	out := MemoryPage{Listed: endpoint.Listed{Position: s.app.Positions.Viewed()}}
	q := memories.SearchInput{
		Text: in.Query, Tag: in.Tag, Agent: in.Agent, Task: in.Task, Conversation: in.Conversation, Scope: in.Scope, Pinned: in.Pinned, Proposed: in.Proposed,
		Since: in.Since, Until: in.Until, Limit: in.Limit, After: in.After,
	}
	found, err := s.app.Memories.Search(ctx, c, q)
	out.Items, out.Next = endpoint.NotNil(found.Items), found.Next
	return out, err
}
