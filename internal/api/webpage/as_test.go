package webpage

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Nothing is done by a form of a page that another principal was shown, or that does not name its reader. What was typed is kept, and so is who is who.
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
	routes := 0
	for pattern := range signedInRoutes() {
		path, ok := strings.CutPrefix(pattern, "POST ")
		if !ok {
			continue
		}
		routes++
		path = regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "x1")
		form := url.Values{"as": {"default/operator/olga"}, "detail": {"a long <reason>"}, "key": {"k1"}, "task": {"x1"}}
		got := post(path, form)
		if got.Code != http.StatusConflict {
			t.Errorf("%s: %d", path, got.Code)
		}
		for _, want := range []string{"shown to operator/olga, and operator/eve has signed in", "<pre class=\"prompt\" tabindex=\"0\">a long &lt;reason&gt;</pre>", `action="` + path + `"`, `name="as" value="default/operator/olga"`, "Send it again"} {
			if !strings.Contains(got.Body.String(), want) {
				t.Errorf("%s lacks %q:\n%s", path, want, got.Body)
			}
		}
		form.Del("as")
		if got := post(path, form); got.Code != http.StatusUnprocessableEntity || !strings.Contains(got.Body.String(), "does not name the principal") {
			t.Errorf("%s without a principal: %d", path, got.Code)
		}
	}
	if routes < 10 {
		t.Errorf("%d routes are known", routes)
	}
}

// typedIn matches a field that a person types in.
var typedIn = regexp.MustCompile(`<textarea|<input (?:id="[^"]*" )?name=`)

// Every form of a page that changes something names its reader.
func TestEveryFormNamesThePrincipalThatSeesIt(t *testing.T) {
	forms := 0
	err := fs.WalkDir(templateFiles, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := templateFiles.ReadFile(path)
		for _, form := range strings.Split(string(b), `<form `)[1:] {
			head, rest, _ := strings.Cut(form, ">")
			if !strings.Contains(head, `method="post"`) || strings.Contains(head, `action="/sign-`) || strings.Contains(head, ".Again") {
				continue
			}
			if forms++; !strings.HasPrefix(strings.TrimSpace(rest), `{{template "as" `) {
				t.Errorf("%s: a form does not name its reader: %s", path, head)
			}
			if types, _, _ := strings.Cut(rest, "</form>"); typedIn.MatchString(types) && !strings.Contains(head, ` id="`) && !strings.Contains(types, `<fieldset class="act" id="`) && path != "templates/tasks.html" {
				t.Errorf("%s: what is typed into a form without an id is lost when the page changes: %s", path, head)
			}
		}
		return err
	})
	if err != nil || forms < 10 {
		t.Errorf("%d forms are known: %v", forms, err)
	}
}
