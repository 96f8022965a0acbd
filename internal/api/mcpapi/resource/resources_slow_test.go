//go:build slow

package resource_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestANameThatIsNoneNeverReachesTheAPI(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		s, l := h.agent("coder")
		v := h.visit(s, version)
		defer func() { _ = v.Close(); v.changed() }()
		for _, uri := range []string{
			"trapeze://task/", "trapeze://task/.", "trapeze://task/..", "trapeze://task/...", "trapeze://task/%2e%2e", "trapeze://task/%2e%2e%2ftokens",
			"trapeze://task/a%2fb", "trapeze://task/a%5cb", "trapeze://task/a%00b", "trapeze://task/a\nb", "trapeze://task/a%0d%0ab", "trapeze://task/a b",
			"trapeze://task/a?from=0;x", "trapeze://task/a?agent=other", "trapeze://task/a#b/../c", "trapeze://task/a?from=-1&from=%zz",
			"trapeze://task/" + strings.Repeat("a", 201), "trapeze://task/ä", "trapeze://task/\u202ea", "trapeze://handoff/../tokens", "trapeze://handoff/a",
			"trapeze://memory/a?task=b&x=1", "trapeze://artifact/../../tokens", "trapeze://artifact/", "trapeze://user:pass@task/a", "TRAPEZE://task/a", "trapeze:task/a",
			"trapeze://tokens", "trapeze://inbox/../tokens", "file:///etc/passwd", "http://localhost/v1/tokens", "", "\x00",
		} {
			if r, err := v.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
				t.Errorf("%q is %+v", uri, r)
			}
			if asked := l.asked(); asked != nil {
				t.Errorf("%.60q: the API was asked %q", uri, asked)
			}
		}
	})
}

func TestWhatOthersHaveIsAsIfItWereNot(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		s, _ := h.agent("coder")
		h.add("other")
		foreign, none := h.task("other"), "task_"+strings.Repeat("0", 26)
		v := h.visit(s, version)
		defer func() { _ = v.Close(); v.changed() }()
		for _, form := range []string{"trapeze://task/%s", "trapeze://task/%s/history", "trapeze://task/%s/drift", "trapeze://handoff/%s.h1", "trapeze://envelope/%s"} {
			said := map[string]string{}
			for _, id := range []string{foreign, none} {
				_, err := v.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: fmt.Sprintf(form, id)})
				if err == nil {
					t.Fatalf("%s was read", fmt.Sprintf(form, id))
				}
				said[id] = strings.ReplaceAll(err.Error(), id, "ID")
			}
			if said[foreign] != said[none] {
				t.Errorf("%s: of another's it is said %q, of none %q", form, said[foreign], said[none])
			}
		}
	})
}

func TestACompletionHasAtMostAHundredValuesAndSaysThatThereAreMore(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		s, _ := h.agent("coder")
		for i := range 105 {
			h.add(fmt.Sprintf("helper-%03d", i), "help", "review")
		}
		h.add("the-helper-1")
		v := h.visit(s, version)
		defer func() { _ = v.Close(); v.changed() }()
		complete := func(prompt, argument, text string) mcp.CompletionResultDetails {
			t.Helper()
			r, err := v.Complete(t.Context(), &mcp.CompleteParams{
				Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: prompt}, Argument: mcp.CompleteParamsArgument{Name: argument, Value: text},
			})
			if err != nil {
				t.Fatal(err)
			}
			return r.Completion
		}
		if got := complete("handoff", "to", ""); len(got.Values) != 100 || !got.HasMore || got.Total != 107 {
			t.Errorf("of all there are %d values, more: %v, in all %d", len(got.Values), got.HasMore, got.Total)
		}
		if got := complete("handoff", "to", "HELPER-1"); !slices.Equal(got.Values, []string{"helper-100", "helper-101", "helper-102", "helper-103", "helper-104", "the-helper-1"}) || got.HasMore {
			t.Errorf("those that begin so, then those that have it: %q, more: %v", got.Values, got.HasMore)
		}
		if got := complete("specialist", "capability", "RE"); !slices.Equal(got.Values, []string{"review"}) {
			t.Errorf("a capability of many is one value: %q", got.Values)
		}
		if got := complete("handoff", "to", strings.Repeat("%", 10_000)); len(got.Values) != 0 || got.HasMore {
			t.Errorf("nothing is like that: %q", got.Values)
		}
	})
}

func TestACompletionOfWhatThereIsNotIsRefused(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		s, l := h.agent("coder")
		v := h.visit(s, version)
		defer func() { _ = v.Close(); v.changed() }()
		for _, ref := range []*mcp.CompleteReference{
			{Type: "ref/prompt", Name: "none"}, {Type: "ref/prompt", Name: "handoff"}, {Type: "ref/resource", URI: "trapeze://tokens/{id}"},
		} {
			if r, err := v.Complete(t.Context(), &mcp.CompleteParams{Ref: ref, Argument: mcp.CompleteParamsArgument{Name: "none"}}); err == nil {
				t.Errorf("%+v was completed: %+v", ref, r)
			}
		}
		if asked := l.asked(); asked != nil {
			t.Errorf("the API was asked %q", asked)
		}
	})
}

func TestAMalformedURIIsNotFound(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		s, _ := h.agent("coder")
		v := h.visit(s, version)
		defer func() { _ = v.Close() }()
		for _, uri := range []string{
			"trapeze://", "trapeze://task/", "trapeze://task/%2e%2e", "trapeze://task/%2F%2F", "trapeze://task/task_x", "trapeze://handoff/task_x",
			"trapeze://artifact/sha256:00", "trapeze://artifact/../../tokens", "trapeze://memory/" + strings.Repeat("x", 10_000), "file:///etc/passwd",
			"trapeze://task/\x01\x7f", "trapeze://inbox?agent=other",
		} {
			if _, err := v.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil || !strings.Contains(err.Error(), "not found") {
				t.Errorf("%.40q: %v", uri, err)
			}
		}
	})
}
