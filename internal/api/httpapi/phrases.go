package httpapi

import (
	"net/http"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
)

// phrases adds the route of plain-English requests.
func (s *service) phrases() {
	endpoint.Create(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/do", ID: "do", Summary: "Execute a request in plain English",
		About: "A request that only reads is executed at once. For any other request the answer is its interpretation and a confirmation; it is executed when the " +
			"same call is repeated with the confirmation. A request that is not understood is refused with the supported phrases; names are never guessed.",
		Tag: endpoint.TagTasks,
	}, s.app.Phrases.Do)
}
