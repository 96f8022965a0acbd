package viewtest

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// without lists the items without a vector in a space.
func (s *stage) without(space string) (ids []string, list []view.ItemVector) {
	s.Helper()
	list, err := s.views.WithoutVector(s.ctx, s.ws, space, s.now.AddDate(-1, 0, 0), nil, 0)
	if err != nil {
		s.Fatal(err)
	}
	for _, owner := range []string{"agent/ann", "agent/bob", "agent/nobody"} {
		others, err := s.views.WithoutVector(s.ctx, s.ws, space, s.now.AddDate(-1, 0, 0), []string{owner}, 0)
		if err != nil {
			s.Fatal(err)
		}
		for _, x := range list {
			listed := slices.ContainsFunc(others, func(o view.ItemVector) bool { return o.ID == x.ID })
			if hit, err := s.views.Memory(s.ctx, s.ws, view.MemoryFilter{By: auditor, Author: strings.TrimPrefix(owner, "agent/"), Limit: view.MaxPage}); err != nil ||
				listed == slices.ContainsFunc(hit, func(o view.MemoryHit) bool { return o.ID == x.ID }) {
				s.Errorf("%s beside those of %s: %v, %v", x.ID, owner, listed, err)
			}
		}
	}
	for _, x := range list {
		ids = append(ids, x.ID)
	}
	slices.Sort(ids)
	return ids, list
}

func (s *stage) putVectors(space string, list []view.ItemVector) {
	s.Helper()
	if err := s.views.PutVectors(s.ctx, s.ws, space, list); err != nil {
		s.Fatal(err)
	}
}

func vectorStory(s *stage) {
	ann, bob := reader("ann"), reader("bob")
	values := map[string][]float32{"north": {0, 1}, "northeast": {.1, .1}, "east": {7, 0}, "south": {0, -1}, "hers": {0, 2}}
	for _, id := range []string{"north", "northeast", "east", "south", "hers"} {
		scope := memory.Workspace
		if id == "hers" {
			scope = memory.Private
		}
		s.know(id, memory.Remember{By: ann, ID: id, Scope: scope, Tags: []string{"wind"}, Content: content("", id)})
	}
	near := func(f view.MemoryFilter, space string, least float64, want ...string) {
		s.Helper()
		found, err := s.views.Nearest(s.ctx, s.ws, f, space, []float32{0, 3}, least)
		ids := []string{}
		for _, x := range found {
			ids = append(ids, x.ID)
		}
		if err != nil || !slices.Equal(ids, want) {
			s.Errorf("nearest of %+v: %q, %v; want %q", f, ids, err, want)
		}
	}
	ids, list := s.without("m1")
	if len(ids) != 5 {
		s.Fatalf("without a vector: %q", ids)
	}
	for i := range list {
		list[i].Values = values[list[i].ID]
	}
	s.putVectors("m1", list)
	if ids, _ := s.without("m1"); len(ids) != 0 {
		s.Errorf("still without a vector: %q", ids)
	}
	near(view.MemoryFilter{By: ann}, "m1", 0.5, "hers", "north", "northeast")
	near(view.MemoryFilter{By: ann, Limit: 1}, "m1", 0.5, "hers")
	near(view.MemoryFilter{By: bob}, "m1", 0.5, "north", "northeast")
	near(view.MemoryFilter{By: bob, Text: "ignored"}, "m1", -1, "north", "northeast", "east", "south")
	near(view.MemoryFilter{By: auditor, Tag: "wind"}, "m1", 0.9, "hers", "north")
	near(view.MemoryFilter{By: auditor, Tag: "rain"}, "m1", -1)
	near(view.MemoryFilter{By: bob}, "m2", -1)
	near(view.MemoryFilter{}, "m1", -1)
	if ids, _ := s.without("m2"); len(ids) != 5 {
		s.Errorf("without a vector in another space: %q", ids)
	}

	s.know("north", memory.Revise{By: ann, ID: "north", Content: content("", "north pole")})
	near(view.MemoryFilter{By: bob}, "m1", 0.5, "northeast")
	s.putVectors("m1", list) // of the old version
	near(view.MemoryFilter{By: bob}, "m1", 0.5, "northeast")
	if ids, _ := s.without("m1"); !slices.Equal(ids, []string{"north"}) {
		s.Errorf("without a vector after a revision: %q", ids)
	}
	s.know("northeast", memory.Forget{By: ann, ID: "northeast"})
	s.putVectors("m1", list)
	near(view.MemoryFilter{By: bob}, "m1", 0.5)

	_, none := s.without("m2")
	s.putVectors("m2", none) // as items that have none
	near(view.MemoryFilter{By: bob}, "m2", -1)
	if ids, _ := s.without("m2"); len(ids) != 0 {
		s.Errorf("asked again for vectors of items that have none: %q", ids)
	}
}
