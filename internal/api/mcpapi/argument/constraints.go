package argument

import (
	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/constrainttext"
)

// Constraints reads constraints as [client.ParseConstraints] does, some without a kind: see [constrainttext.WithKinds].
func Constraints(list []string) ([]client.Constraint, error) {
	list, err := constrainttext.WithKinds(list)
	if err != nil {
		return nil, err
	}
	return client.ParseConstraints(list)
}
