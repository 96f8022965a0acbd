package caller_test

import (
	"testing"
)

func TestWhatTheCallerKnewOfOwnershipMakesNoOtherRequest(t *testing.T) {
	type send struct {
		Task  string `json:"task"`
		Epoch uint64 `json:"epoch,omitempty"`
	}
	if digest(t, send{"t", 1}) != digest(t, send{"t", 2}) {
		t.Error("a repeat under a later epoch is another request")
	}
	if digest(t, send{"t", 1}) == digest(t, send{"u", 1}) {
		t.Error("another task is the same request")
	}
}
