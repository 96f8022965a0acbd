//go:build slow && !race

package mcpapi_test

import (
	"math"
	"testing"
)

// Every value of the table.
func TestARefusalNamesTheArgumentWhateverIsWrongWithIt(t *testing.T) {
	refusalsNameArguments(t, math.MaxInt)
}
