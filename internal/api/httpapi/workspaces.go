package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/moves"
	"github.com/trapezehq/trapeze/internal/usecase/workspaces"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
)

// WorkspacePage is one page of a list of workspaces.
type WorkspacePage struct {
	Workspaces []workspaces.Workspace `json:"workspaces"`
	Next       string                 `json:"next,omitempty" doc:"Parameter after for the next page; absent on the last page."`
	endpoint.Listed
}

type workspacesQuery struct {
	endpoint.Reading
	endpoint.Page
	Used bool `query:"used" doc:"With what each workspace uses."`
}

func (s *service) workspaces() {
	one := func(method, under, id, summary, about string) endpoint.Route {
		return endpoint.Route{Method: method, Path: "/v1/workspaces/{id}" + under, ID: id, Summary: summary, About: about, Tag: endpoint.TagWorkspaces}
	}
	const forAdmins = " For admins of the workspace default."
	endpoint.Create(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/workspaces", ID: "create-workspace", Summary: "Make a workspace, and its first token",
		About: "The text of the token is only in this answer." + forAdmins, Tag: endpoint.TagWorkspaces, Status: http.StatusCreated,
	}, s.app.Workspaces.Create)
	endpoint.Read(s.router, endpoint.Route{
		Path: "/v1/workspaces", ID: "list-workspaces", Summary: "List the workspaces, by name", Tag: endpoint.TagWorkspaces,
		About: "All of them, archived ones included, for admins of the workspace default; their own for others who may read everything in it.",
	}, s.listWorkspaces)
	endpoint.Read(s.router, one(http.MethodGet, "", "show-workspace", "Show a workspace, and what it uses", "Admins of the workspace default may name any, others their own."),
		func(ctx context.Context, c caller.Caller, in *endpoint.ReadingID) (workspaces.Workspace, error) {
			return s.app.Workspaces.Show(ctx, c, in.ID)
		})
	endpoint.Change(s.router, one(http.MethodPost, "/limits", "set-limits", "Change the limits of a workspace",
		"A call that would exceed one is refused with the code limit. What is there already stays."+forAdmins),
		endpoint.Under(func(in *workspaces.LimitsInput) *string { return &in.Name }, s.app.Workspaces.SetLimits))
	endpoint.Change(s.router, one(http.MethodPost, "/archive", "archive-workspace", "Archive a workspace",
		"It can be read, nothing in it changes, and its timers stand still."+forAdmins),
		endpoint.Under(func(in *workspaces.ArchiveInput) *string { return &in.Name }, s.app.Workspaces.Archive))
	endpoint.Act(s.router, one(http.MethodPost, "/restore", "restore-workspace", "Restore an archived workspace",
		"Its timers go on: what became due meanwhile happens at once."+forAdmins), s.app.Workspaces.Restore)
	endpoint.Change(s.router, one(http.MethodPost, "/move", "move-workspace", "Have a workspace move to another server",
		"From now on every change in it is refused, with the address of that server, for good. The call may be repeated. Then fetch its file, and import it there."+forAdmins),
		endpoint.Under(func(in *moves.LeaveInput) *string { return &in.Name }, s.app.Moves.Leave))
	file := s.router.Operation(one(http.MethodGet, "/file", "export-workspace", "Fetch the file of a workspace that moves",
		"All its entries, byte by byte, its artifacts, and the proof of what this server signed. A file that is cut short is not imported."+forAdmins))
	file.Parameters = []*huma.Param{{Name: "id", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}}
	file.Responses = map[string]*huma.Response{"200": {Description: "The file", Content: map[string]*huma.MediaType{mediaFile: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}}}
	s.router.Raw(file, s.exportWorkspace)
	endpoint.Create(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/workspaces/import", ID: "import-workspace", Summary: "Import a workspace that moves here",
		About: "The file is stored as artifacts before. Nothing is written before all of it is verified. A call answers after 15 seconds at the latest how far it came: repeat it until the answer is whole." + forAdmins, Tag: endpoint.TagWorkspaces,
	}, s.app.Moves.Import)
}

const mediaFile = "application/octet-stream"

func (s *service) exportWorkspace(w http.ResponseWriter, r *http.Request) error {
	endpoint.Patient(r.Context())
	out := &lateWriter{w: w, control: http.NewResponseController(w), media: mediaFile}
	err := s.app.Moves.Write(r.Context(), endpoint.Caller(r.Context()), r.PathValue("id"), out)
	if err != nil && out.begun {
		s.router.CutShort(r.Context(), "the file of a workspace", err)
	}
	return err
}

func (s *service) listWorkspaces(ctx context.Context, c caller.Caller, in *workspacesQuery) (WorkspacePage, error) {
	if in.Page.After != "" {
		if err := workspace.CheckName(in.Page.After); err != nil {
			return WorkspacePage{}, err
		}
	}
	if in.Limit == 0 {
		in.Limit = endpoint.UsualPage
	}
	page := WorkspacePage{Listed: endpoint.Listed{Position: s.app.Positions.Viewed()}}
	list, err := s.app.Workspaces.List(ctx, c, workspaces.WorkspacesInput{After: in.Page.After, Limit: in.Limit, Used: in.Used})
	if len(list) == in.Limit {
		page.Next = list[len(list)-1].Name
	}
	page.Workspaces = endpoint.NotNil(list)
	return page, err
}
