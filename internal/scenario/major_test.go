package scenario

import "github.com/trapezehq/trapeze/internal/content/envelope"

// before is a made-up major before ours, which called the task "job".
var before = envelope.Conversion{
	Older: 0,
	Up: func(doc map[string]any) ([]string, error) {
		doc["version"], doc["task"] = "1.0", doc["job"]
		delete(doc, "job")
		return nil, nil
	},
	Down: func(doc map[string]any) ([]string, error) {
		doc["version"], doc["job"] = "0.9", doc["task"]
		delete(doc, "task")
		return nil, nil
	},
}
