package resource

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostLinks is the maximum number of links in one answer.
const mostLinks = 8

// TaskLinks returns links to the history of a task, and to its envelope if it has one.
func TaskLinks(task, envelope string) []mcp.Content {
	links := []mcp.Content{link("history", "trapeze://task/"+task+"/history", asJSON, 0)}
	if envelope != "" {
		links = append(links, link("envelope", "trapeze://envelope/"+task, asJSON, 0))
	}
	return links
}

// ContentLinks returns links to what the rendered context of a handoff omits: memory items that are references, artifacts, the sealed
// envelope, and the history of the task. It returns at most 8 links; more is the number of links that were omitted.
func ContentLinks(task, handoff string, envelope json.RawMessage) (links []mcp.Content, more int) {
	var e struct {
		Memory []struct {
			ID   string  `json:"id"`
			Text *string `json:"text"`
		} `json:"memory"`
		Artifacts []struct {
			Digest string `json:"digest"`
			Media  string `json:"media_type"`
			Bytes  int64  `json:"bytes"`
		} `json:"artifacts"`
	}
	if json.Unmarshal(envelope, &e) != nil {
		return nil, 0 // an envelope that cannot be read has no links
	}
	add := func(l *mcp.ResourceLink) {
		if len(links) == mostLinks-2 { // room for the last two
			more++
			return
		}
		links = append(links, l)
	}
	for _, m := range e.Memory {
		if m.Text == nil && isID(m.ID) {
			add(link("memory "+m.ID, "trapeze://memory/"+m.ID+"?task="+task, asJSON, 0))
		}
	}
	for i, a := range e.Artifacts {
		if isID(a.Digest) {
			add(link(fmt.Sprintf("artifact %d", i+1), "trapeze://artifact/"+a.Digest, "", a.Bytes))
		}
	}
	return append(links, link("envelope", "trapeze://envelope/"+handoff, asJSON, int64(len(envelope))),
		link("history", "trapeze://task/"+task+"/history", asJSON, 0)), more
}

// link returns a link with a fixed name, never with text of others: clients show link names outside of fences.
func link(name, uri, media string, size int64) *mcp.ResourceLink {
	l := &mcp.ResourceLink{URI: uri, Name: name, MIMEType: media}
	if size > 0 {
		l.Size = &size
	}
	return l
}
