package mcpapi_test

import (
	"regexp"
	"slices"
	"strings"
)

// ofOneVersion finds a section that is of one version only.
var ofOneVersion = regexp.MustCompile(`(?m)^-- .+ in .+ --$`)

// recent is what would be heard in the newer version if nothing else differed than what results have.
func recent(heard []hearing) (out []hearing) {
	for _, h := range heard {
		h = slices.Clone(h)
		for i := range h {
			h[i].text = framed(h[i].text)
		}
		out = append(out, h)
	}
	return out
}

// framed is what was heard in the older version with what results have in the newer one only.
func framed(text string) string {
	var b strings.Builder
	for _, message := range decoded(text) {
		if result, ok := message["result"].(m); ok {
			meta, ok := result["_meta"].(m)
			if !ok {
				meta = m{}
			}
			meta["io.modelcontextprotocol/serverInfo"] = m{"name": "trapeze", "title": "Trapeze handoff server", "version": "test"}
			result["_meta"], result["resultType"] = meta, "complete"
		}
		b.WriteString(pretty(message))
	}
	return b.String()
}
