package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// MaxProblems is the most problems that are reported of one file; there may be more.
const MaxProblems = 50

// Problem is one thing that is wrong with a policy file.
type Problem struct {
	File   string `json:"file"`
	Line   int    `json:"line"`           // from 1
	Column int    `json:"column"`         // from 1
	Path   string `json:"path,omitempty"` // such as rules[2].then.to
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"` // what to do about it
}

// String is the problem on one line, as compilers write it.
func (p Problem) String() string {
	s := fmt.Sprintf("%s:%d:%d: ", p.File, p.Line, p.Column)
	if p.Path != "" {
		s += p.Path + ": "
	}
	s += p.Reason
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	return s
}

// Problems is what is wrong with a file, by line.
type Problems []Problem

// Err refuses (invalid) the file, with all that is wrong with it, in words and as the detail "problems"; nil if nothing is.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	const most = 10
	lines := make([]string, 0, most+1)
	for i, one := range p {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(p)-most))
			break
		}
		lines = append(lines, one.String())
	}
	return refusal.New(refusal.Invalid, "fix the file; the policy in force stays as it is", "the policy has %s: %s",
		refusal.Counted(len(p), "problem"), strings.Join(lines, "; ")).With("problems", []Problem(p))
}

func (p Problems) sorted() Problems {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p[:min(len(p), MaxProblems)]
}
