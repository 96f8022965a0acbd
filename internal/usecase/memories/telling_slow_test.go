//go:build slow

package memories

import "testing"

func TestTheLongestWordsOfATaskAreSearchedFor(t *testing.T) {
	for text, want := range map[string]string{
		"fix the login of the customer portal for the auditors": "auditors customer portal login",
		"go go go": "go",
		"":         "",
	} {
		if got := telling(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
