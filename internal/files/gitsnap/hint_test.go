package gitsnap_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/gitsnap"
)

func TestTheHintThatFetchesACommitIsOneCommandWithoutOptions(t *testing.T) {
	sender, receiver := origin(t)
	s, patch := sender.take()
	s.Commit, s.Tree = strings.Repeat("1", len(s.Commit)), strings.Repeat("2", len(s.Tree))
	for _, x := range []struct{ remote, branch, want string }{
		{"https://example.com/p", "main", "git fetch -- https://example.com/p main"},
		{"git@example.com:p", "fix/#12", "git fetch -- git@example.com:p 'fix/#12'"},
		{"https://example.com/p", "", "git fetch -- https://example.com/p"},
	} {
		s.Remote, s.Branch, s.Pushed = x.remote, x.branch, true
		err := gitsnap.Try(t.Context(), receiver.dir, s, patch, gitsnap.Options{})
		if r, ok := refusal.As(err); !ok || r.Code != refusal.NotFound || r.Hint != x.want {
			t.Errorf("%+v: %v", x, err)
		}
	}
	for _, branch := range []string{"main;touch${IFS}x", "$(touch x)", "--upload-pack=touch x"} {
		s.Branch = branch
		if err := gitsnap.Try(t.Context(), receiver.dir, s, patch, gitsnap.Options{}); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%q: %v", branch, err)
		}
	}
}

func TestABranchWithAnotherNameIsKeptAndDoesNotTravel(t *testing.T) {
	sender, receiver := origin(t)
	sender.git("checkout", "-q", "-b", "fix(x)")
	sender.write("README", "one\n2\nthree\n")
	s, patch := sender.take()
	if s.Branch != "" {
		t.Errorf("the branch travels as %q", s.Branch)
	}
	receiver.git("checkout", "-q", "-b", "my(own)")
	receiver.git("commit", "-q", "--allow-empty", "-m", "another")
	done, err := gitsnap.Apply(t.Context(), receiver.dir, s, patch, gitsnap.Options{})
	if err != nil || done.Before != "my(own)" {
		t.Errorf("%+v, %v", done, err)
	}
}
