//go:build slow

package mcpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/resource"
)

func TestWhatIsLongIsReadInParts(t *testing.T) {
	h := open(t)
	a := h.agent(statelessVersion, "coder")
	text := strings.Repeat("über ", 40_000) // 240,000 bytes
	_, kept := a.call("remember", m{"text": text})
	var whole strings.Builder
	parts := 0
	for uri := fmt.Sprintf("trapeze://memory/%s", kept["id"]); ; parts++ {
		r, err := a.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Contents[0].Text) > resource.MaxText {
			t.Fatalf("a part has %d bytes", len(r.Contents[0].Text))
		}
		whole.WriteString(r.Contents[0].Text)
		if r.Contents[1].URI == uri {
			break
		}
		uri = r.Contents[1].URI
	}
	var item client.MemoryItem
	if err := json.Unmarshal([]byte(whole.String()), &item); err != nil || item.Text != text || parts != 1 {
		t.Errorf("after %d more parts the item is not what was kept: %v", parts, err)
	}
}
