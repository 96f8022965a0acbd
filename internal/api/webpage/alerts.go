package webpage

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"

	"github.com/trapezehq/trapeze/internal/api/webpage/form"
)

// alertPage is the alerts that are raised, the last that recovered, and the silences.
type alertPage struct {
	Raised   []admin.Alert
	Past     []admin.Alert
	Silences []admin.AlertSilence
	Hours    []int             // for which an alert can be silenced
	Meanings map[string]string // of those that are listed, by id and by name
}

func (v *visit) alerts(w http.ResponseWriter, r *http.Request) error {
	got, err := v.admin.Alerts(r.Context(), admin.AlertOptions{Past: true})
	if err != nil {
		return err
	}
	body := alertPage{Silences: got.Silences, Hours: []int{1, 4, 24, 168}, Meanings: map[string]string{}}
	for _, a := range got.Alerts {
		body.Meanings[a.Name], body.Meanings[a.ID] = a.Meaning, strings.TrimSpace(a.Meaning+" "+a.Agent)
		if a.State == "raised" {
			body.Raised = append(body.Raised, a)
		} else {
			body.Past = append(body.Past, a)
		}
	}
	return v.show(w, r, "alerts", page{Title: "Alerts", Live: everything, About: behind(got.Alerts), Body: body})
}

// actOnAlert silences an alert, or ends a silence.
func (v *visit) actOnAlert(w http.ResponseWriter, r *http.Request) error {
	ctx := client.WithKey(r.Context(), r.PostFormValue("key"))
	switch verb := r.PathValue("verb"); verb {
	case "silence":
		hours, err := strconv.Atoi(r.PostFormValue("hours"))
		if err != nil {
			return form.Invalid(fmt.Sprintf("%.20q is not a number of hours", r.PostFormValue("hours")), "choose one of the list")
		}
		_, err = v.admin.SilenceAlert(ctx, admin.SilenceInput{
			Alert: r.PostFormValue("alert"), Reason: r.PostFormValue("reason"), For: client.Duration(time.Duration(hours) * time.Hour),
		})
		return v.after(w, r, "/alerts", verb, err)
	case "end":
		_, err := v.admin.EndSilence(ctx, r.PostFormValue("silence"))
		return v.after(w, r, "/alerts", "unsilence", err)
	default:
		return form.Invalid(fmt.Sprintf("an alert cannot be %.20q", verb), "go back to the alerts")
	}
}
