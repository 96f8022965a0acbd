package dispatch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/phrase"
	"github.com/trapezehq/trapeze/internal/refusal"
)

// A confirmation is "EPOCH.TASK.DIGEST". The digest is of who was understood, what, and the epoch that the task had then.
// It is no credential, and so needs no secret: it is only sent back by who could also make the call itself.

// ask is the confirmation of what was understood. Its task is found, so that the epoch is the present one.
func (s *Spoken) ask(ctx context.Context, c app.Caller, said phrase.Said) (string, error) {
	var epoch uint64
	if fenced(said) {
		t, err := s.app.Task(ctx, c, said.Task)
		if err != nil {
			return "", s.near(ctx, c, said.Task, err)
		}
		epoch = t.Epoch
	}
	return strconv.FormatUint(epoch, 10) + "." + said.Task + "." + digest(c, said, epoch), nil
}

// fenced reports whether what was said is done under the task's epoch. Who takes over is no owner and knows none.
func fenced(s phrase.Said) bool {
	return s.Intent != phrase.Takeover && s.Intent != phrase.Stuck
}

func digest(c app.Caller, said phrase.Said, epoch uint64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "do\x00%s\x00%s\x00%d\x00%s", c.Workspace, c, epoch, said.Canonical()))
	return hex.EncodeToString(sum[:16])
}

// check refuses (conflict) a confirmation of anything else than what is said now, and says which task "this" was.
func check(c app.Caller, said *phrase.Said, token string) (epoch uint64, err error) {
	first, rest, _ := strings.Cut(token, ".")
	task, sum, _ := strings.Cut(rest, ".")
	epoch, err = strconv.ParseUint(first, 10, 64)
	then := *said
	if then.Task == "" && means(then) {
		then.Task = task
	}
	if err != nil || then.Task != task || sum != digest(c, then, epoch) {
		return 0, refusal.New(refusal.Conflict, "send the sentence without a confirmation, read what is understood, and confirm that",
			"what is confirmed is not what is understood: %s", said.Canonical())
	}
	*said = then
	return epoch, nil
}
