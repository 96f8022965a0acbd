package httpapi

import (
	"net/http"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/usecase/phrases"
)

// phrases hangs the route of plain-English requests.
func (s *service) phrases() {
	endpoint.Create(s.door, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/do", ID: "do", Summary: "Say in plain English what is to be done",
		About: "What only looks is done at once. Anything else is answered with what was understood and a confirmation, and done when the same " +
			"call comes with it. What is not understood is refused with what can be said; no name is ever guessed.",
		Tag: endpoint.TagTasks,
	}, phrases.NewSpoken(s.app).Do)
}
