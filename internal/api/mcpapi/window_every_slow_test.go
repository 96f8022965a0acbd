//go:build slow

package mcpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
)

// The answers of the API are filled with long texts and long lists. Whatever tool is called and whatever resource or prompt is read,
// the reader gets no more than half of its window, as text and as structured content, and text of others stays fenced where it is cut.
func TestNoAnswerIsLargerThanTheWindowOfItsReader(t *testing.T) {
	long := strings.Repeat(words(40)+"\n"+hostileText+"\n", 3)
	for _, state := range []client.State{client.Executing, client.Parked, client.Completed, client.Waiting} {
		api := filling{text: long, many: 12, window: 1500, state: state}
		r := smallOn(t, api.api(t))
		called := map[string]bool{}
		for _, x := range everyCall {
			called[x.tool] = true
			if d, ok := x.args["digest"]; ok && d != "" {
				x.args = m{"digest": api.artifact()}
			}
			what := fmt.Sprint(x.tool, " ", x.args)
			got, err := r.CallTool(t.Context(), &mcp.CallToolParams{Name: x.tool, Arguments: x.args})
			if err != nil {
				t.Fatal(what, err)
			}
			text := got.Content[0].(*mcp.TextContent).Text
			r.fitsHalf(what, text)
			saysOnly(t, what, text)
			if got.StructuredContent != nil {
				b, err := json.Marshal(got.StructuredContent)
				if err != nil {
					t.Fatal(err)
				}
				r.fitsHalf(what+" as data", string(b))
				r.fits(x.tool, got.StructuredContent)
			}
		}
		tools, err := r.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range tools.Tools {
			if !called[x.Name] {
				t.Errorf("the tool %s is not called here", x.Name)
			}
		}
		r.readsEverything(api.artifact())
	}
}

// readsEverything reads every resource and every prompt.
func (r smallReader) readsEverything(digest string) {
	r.t.Helper()
	var uris []string
	list, err := r.ListResources(r.t.Context(), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, x := range list.Resources {
		uris = append(uris, x.URI)
	}
	templates, err := r.ListResourceTemplates(r.t.Context(), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, x := range templates.ResourceTemplates {
		uri, _, _ := strings.Cut(strings.ReplaceAll(x.URITemplate, "{+digest}", digest), "{?")
		switch {
		case strings.Contains(uri, "memory"):
			uri = strings.ReplaceAll(uri, "{id}", "mem_1")
		case strings.Contains(uri, "handoff"):
			uri = strings.ReplaceAll(uri, "{id}", aTask+".h1")
		}
		uris = append(uris, strings.ReplaceAll(uri, "{id}", aTask))
	}
	for _, uri := range uris {
		res, err := r.ReadResource(r.t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			r.t.Errorf("%s: %v", uri, err)
			continue
		}
		var all []string
		for _, part := range res.Contents {
			all = append(all, part.Text)
		}
		r.fitsHalf(uri, strings.Join(all, "\n"))
	}
	prompts, err := r.ListPrompts(r.t.Context(), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, p := range prompts.Prompts {
		args := map[string]string{}
		for _, a := range p.Arguments {
			if a.Required {
				args[a.Name] = "ann"
			}
		}
		got, err := r.GetPrompt(r.t.Context(), &mcp.GetPromptParams{Name: p.Name, Arguments: args})
		if err != nil {
			r.t.Fatal(err)
		}
		for _, message := range got.Messages {
			r.fitsHalf("prompt "+p.Name, message.Content.(*mcp.TextContent).Text)
		}
	}
}
