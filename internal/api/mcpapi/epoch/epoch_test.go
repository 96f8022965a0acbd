package epoch

import (
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestASessionRemembersItsOwnEpochsUpToABound(t *testing.T) {
	e, one, other := New(), new(mcp.ServerSession), new(mcp.ServerSession)
	e.Hold(one, "a", 1)
	e.Hold(other, "a", 2)
	e.Hold(one, "b", 0)
	if e.Of(one, "a") != 1 || e.Of(other, "a") != 2 || e.Of(one, "b") != 0 {
		t.Errorf("%d, %d, %d", e.Of(one, "a"), e.Of(other, "a"), e.Of(one, "b"))
	}
	for i := range maxTasks {
		e.Hold(one, fmt.Sprint(i), 3)
	}
	if e.Of(one, "a") != 0 || e.Of(one, "0") != 3 || e.Of(other, "a") != 2 {
		t.Errorf("%d, %d, %d", e.Of(one, "a"), e.Of(one, "0"), e.Of(other, "a"))
	}
}
