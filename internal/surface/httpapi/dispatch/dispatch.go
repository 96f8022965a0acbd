package dispatch

import (
	"net/http"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/dispatch"
	"github.com/trapezehq/trapeze/internal/surface/httpapi/door"
)

// Routes hangs the routes of these use cases on a door.
func Routes(d *door.Door, a *app.App) {
	door.Create(d, door.Route{
		Method: http.MethodPost, Path: "/v1/do", ID: "do", Summary: "Say in plain English what is to be done",
		About: "What only looks is done at once. Anything else is answered with what was understood and a confirmation, and done when the same " +
			"call comes with it. What is not understood is refused with what can be said; no name is ever guessed.",
		Tag: door.TagTasks,
	}, dispatch.NewSpoken(a).Do)
	policies(d, a)
}
