package conversation

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// A conversation is identified by its name. Where an agent begins one under a name that is taken by a conversation in which it has no
// part, it begins another of that name: otherwise a refusal would tell it which conversations there are. That one is identified by its name
// and a digest of the agent that began it. Those who take part see the name alone.
const (
	ownMark  = "~"
	ownBytes = 6 // of the digest
)

// OwnID is the identity of the conversation that an agent began under a name that was taken.
func OwnID(name, agent string) string {
	sum := sha256.Sum256([]byte(agent))
	return name + ownMark + hex.EncodeToString(sum[:ownBytes])
}

// NameOf is the name of a conversation.
func NameOf(id string) string {
	name, _, _ := strings.Cut(id, ownMark)
	return name
}

// IsOwn reports whether an id is one of [OwnID].
func IsOwn(id string) bool { return strings.Contains(id, ownMark) }

// CheckID refuses (invalid) what cannot be a conversation's id: names as agents have them, or an id of [OwnID].
func CheckID(id string) error {
	name, digest, own := strings.Cut(id, ownMark)
	if own && (len(digest) != 2*ownBytes || strings.Trim(digest, "0123456789abcdef") != "") {
		return refusal.New(refusal.Invalid, "use its name", "%.100q is not the id of a conversation", id)
	}
	return event.CheckName("conversation", name)
}
