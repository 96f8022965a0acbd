package event

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event/idform"
)

// A task's id is "task_" and 26 characters of base 32. Ids sort by creation time if the callers' idempotency keys do. A part of a
// task is numbered within it: a handoff "task_….h2", a takeover request "task_….t1", a shared envelope "task_….s1", a ticket
// "task_….k1", a notice "task_….n1". So an id alone says which stream to read. Package idform has the form.
var base32lower = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// TaskID is the task id of 16 bytes. Time-ordered bytes give time-ordered ids.
func TaskID(n [16]byte) string { return idform.Task + base32lower.EncodeToString(n[:]) }

// MemoryID is the id of a memory item of 16 bytes, as [TaskID] is a task's.
func MemoryID(n [16]byte) string { return idform.Memory + base32lower.EncodeToString(n[:]) }

// ChildID derives the id of a task's n-th child. It keeps the parent's time.
func ChildID(parent string, n int) string {
	var id [16]byte
	sum := sha256.Sum256(fmt.Appendf(nil, "child\x00%s\x00%d", parent, n))
	copy(id[:], sum[:])
	if b, err := base32lower.DecodeString(strings.TrimPrefix(parent, idform.Task)); err == nil {
		copy(id[:6], b)
	}
	return TaskID(id)
}

// CheckTaskID refuses (invalid) a text that cannot be a task id.
func CheckTaskID(id string) error {
	if !idform.IsTask(id) {
		return idform.Refuse(id, "a task id", "a task id looks like task_ and 26 letters and digits; [list tasks](task list) to see yours")
	}
	return nil
}

// HandoffID names the n-th handoff of a task.
func HandoffID(task string, n int) string { return task + ".h" + strconv.Itoa(n) }

// TakeoverID names the n-th request to take a task over.
func TakeoverID(task string, n int) string { return task + ".t" + strconv.Itoa(n) }

// ShareID names the n-th envelope of a task that was shared.
func ShareID(task string, n int) string { return task + ".s" + strconv.Itoa(n) }

// TicketID names the n-th ticket of a task.
func TicketID(task string, n int) string { return task + ".k" + strconv.Itoa(n) }

// NoticeID names the n-th notice of a task.
func NoticeID(task string, n int) string { return task + ".n" + strconv.Itoa(n) }

// ParseHandoffID splits a handoff's id into its task and its number.
func ParseHandoffID(id string) (task string, n int, err error) {
	return parseSubID(id, 'h', "a handoff id", "a handoff id looks like task_….h1; [your inbox](inbox) lists those that are offered to you")
}

// ParseTakeoverID splits the id of a takeover request.
func ParseTakeoverID(id string) (task string, n int, err error) {
	return parseSubID(id, 't', "the id of a takeover request", "an id of a takeover request looks like task_….t1")
}

// ParseShareID splits the id of a shared envelope.
func ParseShareID(id string) (task string, n int, err error) {
	return parseSubID(id, 's', "the id of a shared envelope", "an id of a shared envelope looks like task_….s1")
}

// ParseTicketID splits a ticket's id into its task and its number.
func ParseTicketID(id string) (task string, n int, err error) {
	return parseSubID(id, 'k', "a ticket id", "a ticket id looks like task_….k1")
}

// ParseNoticeID splits a notice's id into its task and its number.
func ParseNoticeID(id string) (task string, n int, err error) {
	return parseSubID(id, 'n', "the id of a notice", "an id of a notice looks like task_….n1")
}

func parseSubID(id string, letter byte, what, hint string) (task string, n int, err error) {
	if task, is, n, ok := idform.ParsePart(id); ok && is == letter {
		return task, n, nil
	}
	return "", 0, idform.Refuse(id, what, hint)
}
