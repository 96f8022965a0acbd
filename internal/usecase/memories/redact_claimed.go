package memories

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// redactClaimed returns a copy of a claimed history without the memory items of this workspace that were forgotten since, wherever they
// stand in it: of each it leaves the id and the reason. It returns nil if there are none. An envelope that was taken from this
// server and imported again is a claimed history with items.
func (l *look) redactClaimed(ctx context.Context, workspace string, claimed []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(claimed))
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil {
		return nil, err
	}
	var items []envelope.MemoryRef
	eachItem(doc, func(id string, _ map[string]any) {
		items = append(items, envelope.MemoryRef{ID: id})
	})
	forgotten, err := l.among(ctx, workspace, items)
	if err != nil || len(forgotten) == 0 {
		return nil, err
	}
	eachItem(doc, func(id string, item map[string]any) {
		if slices.Contains(forgotten, id) {
			clear(item)
			item["id"], item["reason"] = id, envelope.GapForgotten
		}
	})
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(doc); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// eachItem calls fn with each object of a decoded JSON value that has the id of a memory item.
func eachItem(value any, fn func(id string, item map[string]any)) {
	switch v := value.(type) {
	case []any:
		for _, of := range v {
			eachItem(of, fn)
		}
	case map[string]any:
		for _, of := range v {
			eachItem(of, fn)
		}
		if id, _ := v["id"].(string); strings.HasPrefix(id, "mem_") && event.CheckName("a memory id", id) == nil {
			fn(id, v)
		}
	}
}
