package mcpapi

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
)

type memory struct {
	ID      string        `json:"id"`
	Version int           `json:"version,omitempty"`
	Status  string        `json:"status,omitempty"`
	Title   string        `json:"title,omitempty"`
	Text    string        `json:"text,omitempty"`
	Author  string        `json:"author,omitempty"`
	Task    string        `json:"task,omitempty"`
	Scope   string        `json:"scope,omitempty"`
	Tags    argument.List `json:"tags,omitempty"`
}

func memoryOf(m client.MemoryItem) memory {
	return memory{m.ID, m.Version, string(m.Status), m.Title, cmp.Or(m.Text, m.Excerpt), m.Author, m.Task, string(m.Scope), m.Tags}
}

func memoryText(m client.MemoryItem) string {
	s := fmt.Sprintf("%s (by %s, %s) %s", m.ID, m.Author, m.Updated.Format(time.DateOnly), oneLine(m.Title))
	if m.Status != client.MemoryCurrent {
		s += " [" + string(m.Status) + "]"
	}
	return strings.TrimSpace(s) + "\n" + quoted(cmp.Or(m.Text, m.Excerpt))
}
