package agent_test

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestANameThatCouldBeTakenForAnAuthorityIsRefused(t *testing.T) {
	for _, name := range []string{
		"operator", "operators", "0perator", "oper-ator", "operator-2", "the.operator", "admin", "adm1n", "admln", "ad-min", "admin_", "administrator", "adrnin",
		"server", "s3rver", "trapeze", "trapeze-server", "trapeze.system", "system", "sys.tem", "requester", "requesters", "the-requester", "person", "people", "human",
		"user", "policy", "auditor", "r00t", "from-admin",
		"operator-chief", "operator.chief", "0perator_chief", "admin-local", "auditor-7", "trapeze-support", "chief-operator", "the-deputy-admin", "operator-the-chief",
		"owner", "owners", "0wner-2", "the-owner", "you", "you2", "me", "all", "a-l-l", "any", "none", "everyone", "anyone", "any-one", "anybody",
		"nobody", "n0body", "somebody", "someone", "no-one", "noone", "everybody",
	} {
		_, err := agent.Decide(agent.State{}, agent.Register{Name: name}, time.Now())
		if refusal.CodeOf(err) != refusal.Invalid || !strings.Contains(err.Error(), "could be taken for the word") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{
		"reviewer", "web-server", "server-monitor", "user-research", "ops", "coder-1", "policy-writer", "3", "2024", "a", "the", "personal", "assistant", "systems-engineer", "sender", "ali", "al", "mel", "yours", "all-hands", "crane-operator", "system-design", "lead", "chief", "automation",
	} {
		if _, err := agent.Decide(agent.State{}, agent.Register{Name: name}, time.Now()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A data directory may have agents that were registered before such names were refused.
func TestAnAgentThatHasTheNameOfAnAuthorityKeepsIt(t *testing.T) {
	s := agent.Fold(agent.State{}, agent.Registered{Name: "admin", At: time.Now()})
	events, err := agent.Decide(s, agent.Register{Name: "admin", Spec: agent.Spec{Description: "the same agent"}}, time.Now())
	if err != nil || len(events) != 1 {
		t.Errorf("%v, %v", events, err)
	}
	s = agent.Fold(s, agent.Removed{})
	if _, err := agent.Decide(s, agent.Register{Name: "admin"}, time.Now()); refusal.CodeOf(err) != refusal.Invalid {
		t.Errorf("it was removed, and another has its name: %v", err)
	}
}
