package secretenv

import (
	"slices"
	"strings"
)

// Without returns an environment without the variables that are for the server alone: its tokens and keys, and the password of its database. The other
// variables are as they were.
func Without(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(v string) bool {
		return strings.HasPrefix(v, "TRAPEZE_") || strings.HasPrefix(v, "PGPASSWORD=")
	})
}
