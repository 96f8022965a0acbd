package agent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/help"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// authorities are the words by which prompts, rules and the record name somebody whose word counts more than an agent's, or nobody.
var authorities = []string{
	"admin", "administrator", "operator", "auditor", "system", "server", "trapeze", "requester", "person", "people", "human", "user",
	"policy", "root", "owner", "nobody", "everybody", "everyone", "anybody", "anyone", "somebody", "someone", "no-one",
}

// roles are the authorities whose role stands before a name, as in operator/chief: an agent could be called operator-chief.
var roles = []string{"admin", "administrator", "operator", "auditor", "trapeze"}

// others are short words for others than one agent. What only looks like one of them, as the name ali, is another word.
var others = []string{"you", "me", "all", "any", "none"}

// checkReserved refuses a name that a reader could take for an authority: one of their words, also in the plural, with digits or separators in it, with
// letters that look alike, or put together of such words; or a role with a name after it. Agents that have such a name keep it.
func checkReserved(name string) error {
	whole := strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_.", r) {
			return -1
		}
		return r
	}, name)
	if word := authority(whole); word != "" {
		return reserved(name, word)
	}
	found := ""
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_.", r) })
	if len(parts) > 1 {
		for _, role := range roles {
			if look(parts[0]) == look(role) {
				return reserved(name, role)
			}
		}
	}
	for _, part := range parts {
		word := authority(part)
		if word == "" && !fillers[part] && strings.Trim(part, "0123456789") != "" {
			return nil
		}
		if word != "" {
			found = word
		}
	}
	if found == "" {
		return nil
	}
	return reserved(name, found)
}

// fillers are words that leave the one beside them what it is.
var fillers = map[string]bool{
	"the": true, "a": true, "an": true, "real": true, "official": true, "local": true, "by": true, "from": true, "to": true, "of": true, "chief": true, "head": true,
	"lead": true, "senior": true, "super": true, "main": true, "deputy": true, "acting": true, "my": true, "your": true, "our": true, "true": true, "trusted": true, "new": true,
}

// authority returns the authority whose word a name looks like, or "".
func authority(name string) string {
	bare := strings.TrimRight(name, "0123456789")
	if slices.Contains(others, bare) {
		return bare
	}
	seen := []string{look(name), look(bare)}
	for _, word := range authorities {
		word = strings.ReplaceAll(word, "-", "")
		for _, name := range seen {
			if like := look(word); name == like || name == like+"s" {
				return word
			}
		}
	}
	return ""
}

// look is a name as a hasty reader sees it: digits and pairs of letters as the letters that they look like.
var look = strings.NewReplacer("0", "o", "1", "i", "l", "i", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "rn", "m", "vv", "w").Replace

// ToAdd is the link of a hint to register an agent that is not there, with something after it; instead, if no agent can have the name.
func ToAdd(words, name, after, instead string) string {
	if event.CheckName("an agent", name) != nil || checkReserved(name) != nil {
		return instead
	}
	return help.To(words, "agent add", name) + after
}

func reserved(name, word string) error {
	return refusal.New(refusal.Invalid, "choose a name that says what the agent does, such as reviewer or billing-support",
		"the agent name %s could be taken for the word %s, which does not name an agent", strconv.QuoteToASCII(name), word)
}
