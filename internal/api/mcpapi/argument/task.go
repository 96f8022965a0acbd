package argument

import (
	"reflect"
	"regexp"
	"slices"
)

// ofTasks are the arguments that take the id of a task.
var ofTasks = []string{"task", "takeover", "source_task", "stuck"}

// handoffID matches the id of a handoff, which begins with that of its task.
var handoffID = regexp.MustCompile(`^(task_[0-9a-z]+)\.h[0-9]+$`)

// toTasks replaces the id of a handoff, where that of a task is expected, by that of its task. Models often have the former alone. A handoff must
// exist to stand for its task; the id of anything else, such as a ticket, is left as it is, and refused.
func toTasks(v reflect.Value, exists func(handoff string) error) error {
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Type.Kind() != reflect.String || !slices.Contains(ofTasks, fieldName(f)) {
			continue
		}
		given := v.FieldByIndex(f.Index)
		if of := handoffID.FindStringSubmatch(given.String()); of != nil {
			if err := exists(given.String()); err != nil {
				return err
			}
			given.SetString(of[1])
		}
	}
	return nil
}
