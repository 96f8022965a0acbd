package webpage

import (
	"net/http"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"

	"github.com/trapezehq/trapeze/internal/api/webpage/standing"
)

// memoryPage is a memory item with its versions.
type memoryPage struct {
	client.MemoryItem
	Standing []standing.Standing    // legal holds on it, and what erased it
	Versions []client.MemoryVersion // the newest first
	More     bool                   // there are older ones than those shown
}

// maxVersions is how many versions of a memory item are shown.
const maxVersions = 20

func (v *visit) memory(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("memory")
	item, err := v.api.Memory(r.Context(), id, client.MemoryReference{})
	if err != nil {
		return err
	}
	body := memoryPage{MemoryItem: item}
	if body.Standing, err = v.heldOrErased(r.Context(), admin.ErasureFilter{Memory: id}); err != nil {
		return err
	}
	if item.Versions > 1 && item.Status != client.MemoryForgotten {
		skip := max(item.Versions-maxVersions, 0)
		list, err := v.api.MemoryVersions(r.Context(), id, skip, maxVersions)
		if err != nil {
			return err
		}
		for i := len(list.Versions) - 1; i >= 0; i-- {
			body.Versions = append(body.Versions, list.Versions[i])
		}
		body.More = skip > 0
	}
	title := item.Title
	if title == "" {
		title = "Memory " + item.ID
	}
	return v.show(w, r, "memory", page{Title: title, Live: following(id, marks), About: []string{item.Task}, Body: body})
}
