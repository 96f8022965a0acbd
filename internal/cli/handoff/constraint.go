package handoff

import (
	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/constrainttext"
)

// Constraints reads constraints as [client.ParseConstraints] does, some without a kind: see [constrainttext.WithKinds].
func Constraints(list []string) ([]client.Constraint, error) {
	list, err := constrainttext.WithKinds(list)
	if err != nil {
		return nil, shell.Usage(err)
	}
	out, err := client.ParseConstraints(list)
	if err != nil {
		return nil, shell.Usage(err)
	}
	return out, nil
}
