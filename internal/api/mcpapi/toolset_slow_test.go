//go:build slow

package mcpapi_test

import (
	"strings"
	"testing"
)

func TestAnOperatorRevivesADeadLetterOverMCP(t *testing.T) {
	h := open(t)
	coder, reviewer := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "reviewer")
	coder.call("join", m{})
	olga := operator(h)
	_, parked := olga.call("send", m{"intent": "Test the parser", "to": "reviewer"})
	reviewer.call("reject", m{"handoff": parked["handoff"], "reason": "not_capable"})
	if text, data := olga.call("dead", m{"task": parked["task"], "action": "replay", "to": "coder", "why": "coder can"}); data["state"] != "handing_off" {
		t.Errorf("revived: %s", text)
	}
	if text, _, refused := olga.try("dead", m{"task": parked["task"], "action": "discard", "why": "no need", "to": "coder"}); !refused || !strings.Contains(text, "omit to") {
		t.Errorf("discarded with a receiver: %s", text)
	}
}

func TestAnAddressThatChoosesNothingIsRefused(t *testing.T) {
	for query, says := range map[string]string{
		"tools=workers":         "default, all, worker",
		"prefix=9":              "use a letter",
		"prefix=a.b":            "use a letter",
		"prefx=a":               "use prefix",
		"tools=worker&tools=":   "use prefix",
		"prefix=a%20b":          "use a letter",
		"tools=default&prefix=": "",
	} {
		eachVersion(t, func(t *testing.T, version string) {
			_, err := open(t).at(version, "coder", query)
			if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
				t.Errorf("%s: %v", query, err)
			}
		})
	}
}
