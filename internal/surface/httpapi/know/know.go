package know

import (
	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/surface/httpapi/door"
)

// routes are hung on a door and lead to the use cases.
type routes struct {
	door *door.Door
	app  *app.App
}

// Routes hangs the routes of what is known on a door.
func Routes(d *door.Door, a *app.App) {
	s := &routes{door: d, app: a}
	s.envelopes()
	s.channels()
	s.memory()
	s.conversations()
	s.artifacts()
}
