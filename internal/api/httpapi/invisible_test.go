package httpapi_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// What cannot be seen is in no id, name or rule: soft hyphens, fillers of scripts, blank glyphs, selectors, tags and joiners.
func TestNoIDAndNoRuleHasACharacterThatCannotBeSeen(t *testing.T) {
	h := open(t, httpapi.Options{})
	ann, _ := h.agent("ann")
	for _, r := range "\u00ad\u034f\u061c\u115f\u1160\u17b4\u180e\u200b\u2060\u2800\u3164\ufeff\uffa0\U0001d159\U00013441\U00016fe4\U000e0041\U000e0100" {
		text := fmt.Sprintf("pay%cpal", r)
		for what, in := range map[string]client.CreateInput{
			"a fact":        {Content: client.Content{Facts: []client.Point{{ID: text, Text: "x"}}}},
			"a replacement": {Content: client.Content{Facts: []client.Point{{ID: "f", Supersedes: text, Text: "x"}}}},
			"a decision":    {Content: client.Content{Decisions: []client.Point{{ID: text, Text: "x"}}}},
			"a tag":         {Tags: []string{text}},
			"a permission":  {Permissions: []string{text}},
			"a rule":        {Constraints: []client.Constraint{{ID: "a", Kind: client.ConstraintFormat, Text: text}}},
			"a rule's id":   {Constraints: []client.Constraint{{ID: text, Kind: client.ConstraintFormat, Text: "x"}}},
			"a value":       {Constraints: []client.Constraint{{ID: "a", Kind: client.ConstraintFormat, Text: "x", Allow: []string{text}}}},
			"a receiver":    {Send: &client.SendInput{To: []string{text}}},
			"conversation":  {Conversation: text},
		} {
			in.Intent = "x"
			in.Start = in.Send == nil
			var e *client.Error
			if _, err := ann.CreateTask(t.Context(), in); !errors.As(err, &e) || e.Code != client.Invalid || e.Hint == "" {
				t.Errorf("%s with %U: %v", what, r, err)
			}
		}
	}
}
