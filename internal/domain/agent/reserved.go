package agent

import (
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// authorities are the words by which prompts, rules and the record name somebody whose word counts more than an agent's, or nobody.
var authorities = []string{
	"admin", "administrator", "operator", "auditor", "system", "server", "trapeze", "requester", "person", "people", "human", "user",
	"policy", "root", "nobody", "everybody",
}

// checkReserved refuses a name that a reader could take for an authority: one of their words, also in the plural, with digits or separators in it, with
// letters that look alike, or put together of such words. Agents that have such a name keep it.
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
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_.", r) }) {
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
var fillers = map[string]bool{"the": true, "a": true, "an": true, "real": true, "official": true, "local": true, "by": true, "from": true}

// authority returns the authority whose word a name looks like, or "".
func authority(name string) string {
	seen := []string{look(name), look(strings.TrimRight(name, "0123456789"))}
	for _, word := range authorities {
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

func reserved(name, word string) error {
	return refusal.New(refusal.Invalid, "choose a name that says what the agent does, such as reviewer or billing-support",
		"the agent name %s could be taken for the %s, whose word is not an agent's", strconv.QuoteToASCII(name), word)
}
