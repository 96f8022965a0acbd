//go:build slow

package webpage

import (
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Nothing is done by a form of a page that another principal was shown, or that does not name its reader. What was typed is kept, and so is who is who. A session is not ended by
// a page of another.
func TestAFormIsOfThePrincipalThatSeesItsPage(t *testing.T) {
	pages, _ := New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v1/me":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"workspace":"default","role":"operator","name":"eve"}`))
		case r.Method == http.MethodGet:
			http.NotFound(w, r)
		default:
			t.Errorf("%s %s was done", r.Method, r.URL)
		}
	}), Options{}).(*pages)
	post := func(path string, form url.Values) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1"+path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return asEve(t, pages, r)
	}
	paths := formPaths(t)
	for _, path := range paths {
		form := url.Values{"as": {"default/operator/olga"}, "detail": {"a long <reason>"}, "key": {"k1"}, "task": {"x1"}}
		got := post(path, form)
		if got.Code != http.StatusConflict {
			t.Errorf("%s: %d", path, got.Code)
		}
		wants := []string{"shown to operator/olga, and operator/eve has signed in", `<pre class="prompt" tabindex="0">a long &lt;reason&gt;</pre>`, `action="` + path + `"`, `name="as" value="default/operator/olga"`, "Send it again"}
		if path == "/sign-out" {
			wants = []string{wants[0], "sign out here", `action="/sign-out"><input type="hidden" name="as" value="default/operator/eve">`}
		}
		for _, want := range wants {
			if !strings.Contains(got.Body.String(), want) {
				t.Errorf("%s lacks %q:\n%s", path, want, got.Body)
			}
		}
		form.Del("as")
		if got := post(path, form); got.Code != http.StatusUnprocessableEntity || !strings.Contains(got.Body.String(), "does not name the principal") {
			t.Errorf("%s without a principal: %d", path, got.Code)
		}
		if len(got.Result().Cookies()) > 0 {
			t.Errorf("%s changes the session", path)
		}
	}
	if !slices.Contains(paths, "/sign-out") || len(paths) < 15 {
		t.Errorf("forms are sent to %q", paths)
	}
	if got := post("/sign-out", url.Values{"as": {"default/operator/eve"}}); got.Code != http.StatusSeeOther || len(got.Result().Cookies()) == 0 {
		t.Errorf("one's own session: %d", got.Code)
	}
}

// formPaths is where people who have signed in send forms: the routes, and what the templates say.
func formPaths(t *testing.T) []string {
	paths := map[string]bool{}
	for pattern := range formRoutes() {
		if path, ok := strings.CutPrefix(pattern, "POST "); ok {
			paths[regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "x1")] = true
		}
	}
	computed := regexp.MustCompile(`\{\{[^}]*\}\}`)
	eachForm(t, func(_, head, form string) {
		if !strings.Contains(head, `method="post"`) {
			return
		}
		for _, at := range regexp.MustCompile(`action="(/[^"]*)"`).FindAllStringSubmatch(head+form, -1) {
			paths[computed.ReplaceAllString(at[1], "x1")] = true
		}
	})
	return slices.Sorted(maps.Keys(paths))
}

// eachForm calls fn with each form of a template: the template's path, the form's tag, and what is in it. Without one are
// those to sign in, which have no principal, and the one of what was refused, which sends what came.
func eachForm(t *testing.T, fn func(path, head, form string)) {
	t.Helper()
	err := fs.WalkDir(templateFiles, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := templateFiles.ReadFile(path)
		for _, text := range strings.Split(string(b), `<form`)[1:] {
			head, rest, _ := strings.Cut(text, ">")
			if form, _, _ := strings.Cut(rest, "</form>"); !strings.Contains(head, `action="/sign-in"`) && !strings.Contains(head, ".Again") {
				fn(path, head, form)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// typedIn matches a field that a person types in.
var typedIn = regexp.MustCompile(`<textarea|<select|<input (?:id="[^"]*" )?name=`)

// Every form of a page that changes something names its reader.
func TestEveryFormNamesThePrincipalThatSeesIt(t *testing.T) {
	forms := 0
	eachForm(t, func(path, head, form string) {
		if forms++; strings.Contains(head, `method="post"`) && !strings.HasPrefix(strings.TrimSpace(form), `{{template "as" `) {
			t.Errorf("%s: a form does not name its reader: %s", path, head)
		}
		if path == "templates/base.html" { // an update leaves it
			return
		}
		if typedIn.MatchString(form) && !strings.Contains(head, ` id="`) && !strings.Contains(form, `<fieldset class="act" id="`) && !strings.Contains(form, `<fieldset class="line" id="`) {
			t.Errorf("%s: what is typed into a form without an id is lost when the page changes: %s", path, head)
		}
	})
	if forms < 10 {
		t.Errorf("%d forms are known", forms)
	}
}

// asEve is the answer to a request of the operator eve, who has signed in.
func asEve(t *testing.T, pages *pages, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	list, err := pages.sessions.cookies(r, pages.sessions.begin("default/operator/eve", "tz_x", time.Time{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		r.AddCookie(c)
	}
	got := httptest.NewRecorder()
	pages.ServeHTTP(got, r)
	return got
}
