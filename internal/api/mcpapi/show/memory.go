package show

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// Memory is a memory item.
type Memory struct {
	ID      string   `json:"id"`
	Version int      `json:"version,omitempty"`
	Status  string   `json:"status,omitempty"`
	Title   string   `json:"title,omitempty"`
	Text    string   `json:"text,omitempty"`
	Author  string   `json:"author,omitempty"`
	Task    string   `json:"task,omitempty"`
	Scope   string   `json:"scope,omitempty"`
	Tags    []string `json:"tags,omitempty"`
	// Proposed is true if the item is pinned once an operator agrees.
	Proposed bool `json:"proposed,omitempty"`
}

// MemoryOf describes a memory item.
func MemoryOf(m client.MemoryItem) Memory {
	return Memory{m.ID, m.Version, string(m.Status), m.Title, cmp.Or(m.Text, m.Excerpt), m.Author, m.Task, string(m.Scope), m.Tags, m.Proposed}
}

// MemoryText is a memory item as a model reads it.
func MemoryText(m client.MemoryItem) string {
	s := fmt.Sprintf("%s (by %s, %s) %s", m.ID, m.Author, m.Updated.Format(time.DateOnly), Line(m.Title))
	if m.Status != client.MemoryCurrent {
		s += " [" + string(m.Status) + "]"
	}
	return strings.TrimSpace(s) + "\n" + Quoted(cmp.Or(m.Text, m.Excerpt))
}
