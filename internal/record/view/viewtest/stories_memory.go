package viewtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// reader is an agent with tasks that it takes part in.
func reader(name string, tasks ...string) memory.Reader {
	return memory.Reader{Principal: identity.Principal{Role: identity.Agent, Name: name}, Tasks: tasks}
}

var boss = memory.Reader{Principal: operator}

var auditor = memory.Reader{Principal: identity.Principal{Role: identity.Auditor, Name: "kim"}}

func content(title, text string) memory.Content {
	return memory.Content{Title: title, Text: text, Salt: "00112233445566778899aabbccddeeff"}
}

// know decides commands on a memory item; the test fails if one is refused.
func (s *stage) know(id string, commands ...memory.Command) {
	s.Helper()
	for _, c := range commands {
		s.now = s.now.Add(time.Second)
		if err := s.tryKnow(id, c); err != nil {
			s.Fatalf("%T on %s: %v", c, id, err)
		}
	}
}

func (s *stage) tryKnow(id string, c memory.Command) error {
	_, err := put(s, "memory", id, s.items, func(events []memory.Event) ([]memory.Event, error) {
		return memory.Decide(foldItem(events), c, s.now)
	})
	return err
}

func foldItem(events []memory.Event) (state memory.State) {
	for _, e := range events {
		state = memory.Fold(state, e)
	}
	return state
}

// say appends a turn to a conversation.
func (s *stage) say(id string, c conversation.AppendTurn) {
	s.Helper()
	s.now = s.now.Add(time.Second)
	c.Conversation = id
	if c.Role == "" {
		c.Role = conversation.Assistant
	}
	_, err := put(s, "conversation", id, s.talks, func(events []conversation.Event) ([]conversation.Event, error) {
		var state conversation.State
		for _, e := range events {
			state = conversation.Fold(state, e)
		}
		return conversation.Decide(state, c, s.now)
	})
	if err != nil {
		s.Fatalf("%+v: %v", c, err)
	}
}

func (s *stage) search(f view.MemoryFilter) (ids []string, places []ledger.Position) {
	s.Helper()
	f.Now = s.now
	found, err := s.views.Memory(s.ctx, s.ws, f)
	if err != nil {
		s.Fatalf("%+v: %v", f, err)
	}
	ids = []string{}
	for _, x := range found {
		ids, places = append(ids, x.ID), append(places, x.At)
	}
	return ids, places
}

func (s *stage) wantMemory(f view.MemoryFilter, want ...string) {
	s.Helper()
	if got, _ := s.search(f); !slices.Equal(got, want) {
		s.Errorf("memory of %+v: got %q, want %q", f, got, want)
	}
}

func memoryStory(s *stage) {
	if s.views.HasMemory(s.ws) {
		s.Error("a workspace remembers before anything was stored in it")
	}
	defer func() {
		if !s.views.HasMemory(s.ws) || s.views.HasMemory("nowhere") {
			s.Error("the views know where memory items were stored, and nowhere else")
		}
	}()
	ann, bob, eve := reader("ann", id(1)), reader("bob", id(1)), reader("eve")
	s.know("m1", memory.Remember{By: ann, ID: "m1", Scope: memory.Workspace, Tags: []string{"db", "orders"}, Importance: 0.2, Content: content("Orders table", "It grows by four percent a week.")})
	s.know("m2", memory.Remember{By: ann, ID: "m2", Scope: memory.Private, Content: content("", "The orders password is in the vault.")})
	s.know("m3", memory.Remember{By: ann, ID: "m3", Scope: memory.Task, Task: id(1), Conversation: "standup", Tags: []string{"db"}, Content: content("", "Split orders by region.")})
	s.know("m4", memory.Remember{By: bob, ID: "m4", Scope: memory.Workspace, Task: id(1), Pinned: true, Content: content("", "Nothing of the kind.")})

	s.wantMemory(view.MemoryFilter{By: ann}, "m4", "m3", "m2", "m1")
	s.wantMemory(view.MemoryFilter{By: bob}, "m4", "m3", "m1")
	s.wantMemory(view.MemoryFilter{By: eve}, "m4", "m1")
	s.wantMemory(view.MemoryFilter{By: auditor}, "m4", "m3", "m2", "m1")
	s.wantMemory(view.MemoryFilter{})
	for who, want := range map[string]int{"ann": 3, "bob": 2, "eve": 1} {
		by := map[string]memory.Reader{"ann": ann, "bob": bob, "eve": eve}[who]
		if got, _ := s.search(view.MemoryFilter{By: by, Text: "ORDER?"}); len(got) != want {
			s.Errorf("%s finds %q, want %d", who, got, want)
		}
	}
	s.wantMemory(view.MemoryFilter{By: ann, Text: "vault kind-the-of"}, "m2") // what hangs together is one word
	s.wantMemory(view.MemoryFilter{By: ann, Text: "of-the-kind"}, "m4")
	s.wantMemory(view.MemoryFilter{By: eve, Text: "vault"})
	s.wantMemory(view.MemoryFilter{Text: "vault"})
	s.wantMemory(view.MemoryFilter{By: bob, Text: "db", Scope: memory.Task}, "m3") // it is a tag
	s.wantMemory(view.MemoryFilter{By: ann, Text: "orders regions"}, "m3", "m1", "m2")
	for f, want := range map[*view.MemoryFilter][]string{
		{Tag: "db"}:                          {"m3", "m1"},
		{Tag: "db", Scope: memory.Task}:      {"m3"},
		{Author: "bob"}:                      {"m4"},
		{Author: "agent/ann"}:                {"m3", "m2", "m1"},
		{Author: "operator/olga"}:            {},
		{Task: id(1)}:                        {"m4", "m3"},
		{Task: id(2)}:                        {},
		{Conversation: "standup"}:            {"m3"},
		{Scope: memory.Private}:              {"m2"},
		{Scope: memory.Workspace}:            {"m4", "m1"},
		{Pinned: true}:                       {},
		{Pinning: memory.ProposedPin}:        {"m4"},
		{Text: "orders", Tag: "orders"}:      {"m1"},
		{Text: "orders", Task: id(1)}:        {"m3"},
		{Since: s.now}:                       {"m4"},
		{Until: s.now}:                       {"m3", "m2", "m1"},
		{Tag: "db", Author: "ann", Limit: 1}: {"m3"},
	} {
		for _, by := range []memory.Reader{ann, auditor} {
			f.By = by
			s.wantMemory(*f, want...)
		}
	}
	ids, places := s.search(view.MemoryFilter{By: ann, Limit: 3})
	s.wantMemory(view.MemoryFilter{By: ann, Limit: 3, After: places[2]}, "m1")
	s.wantMemory(view.MemoryFilter{By: bob, After: places[1]}, "m1")
	if len(ids) != 3 {
		s.Errorf("a page of three: %q", ids)
	}
}

func memoryLifeStory(s *stage) {
	ann, eve := reader("ann"), reader("eve")
	for _, m := range []string{"m1", "m2"} {
		s.know(m, memory.Remember{By: ann, ID: m, Scope: memory.Workspace, Tags: []string{"old"}, Content: content("apples", "pears")})
	}
	first := s.now
	s.know("m1", memory.Revise{By: ann, ID: "m1", Content: content("plums", "cherries")},
		memory.Tag{By: ann, ID: "m1", Tags: []string{"new", "ripe"}}, memory.Pin{By: ann, ID: "m1"}, memory.Weigh{By: ann, ID: "m1", Importance: 1})
	for text, want := range map[string][]string{
		"apple": {"m2"}, "pears": {"m2"}, "plum": {"m1"}, "cherry": {"m1"}, "old": {"m2"}, "ripe": {"m1"}, "plum pear": {"m1", "m2"},
	} {
		s.wantMemory(view.MemoryFilter{By: eve, Text: text}, want...)
	}
	s.wantMemory(view.MemoryFilter{By: eve, Tag: "old"}, "m2")
	s.wantMemory(view.MemoryFilter{By: eve, Tag: "ripe"}, "m1")
	s.wantMemory(view.MemoryFilter{By: eve, Pinning: memory.ProposedPin}, "m1")
	s.wantMemory(view.MemoryFilter{By: eve, Pinned: true})
	s.know("m1", memory.Pin{By: boss, ID: "m1"})
	s.wantMemory(view.MemoryFilter{By: eve, Pinned: true}, "m1")
	s.wantMemory(view.MemoryFilter{By: eve, Pinning: memory.OperatorPin}, "m1")
	s.know("m1", memory.Revise{By: ann, ID: "m1", Content: content("plums", "cherries and more")})
	s.wantMemory(view.MemoryFilter{By: eve, Pinned: true})
	s.wantMemory(view.MemoryFilter{By: eve, Pinning: memory.ProposedPin}, "m1")
	s.wantMemory(view.MemoryFilter{By: eve, Since: first.Add(time.Second)}, "m1")
	s.wantMemory(view.MemoryFilter{By: eve}, "m2", "m1")

	_, places := s.search(view.MemoryFilter{By: eve, Limit: 1})
	s.know("m2", memory.Forget{By: ann, ID: "m2"})
	s.know("m1", memory.Unpin{By: ann, ID: "m1"})
	s.wantMemory(view.MemoryFilter{By: eve, Pinned: true})
	for _, by := range []memory.Reader{ann, eve, auditor} {
		s.wantMemory(view.MemoryFilter{By: by}, "m1")
		s.wantMemory(view.MemoryFilter{By: by, Text: "apples pears old"})
		s.wantMemory(view.MemoryFilter{By: by, Tag: "old"})
		s.wantMemory(view.MemoryFilter{By: by, After: places[0]}, "m1")
	}
}

func rankStory(s *stage) {
	ann := reader("ann")
	store := func(id string, importance float64, c memory.Content) {
		s.know(id, memory.Remember{By: ann, ID: id, Scope: memory.Workspace, Importance: importance, Content: c})
	}
	for n := range 9 {
		store(fmt.Sprintf("other-%d", n), 1, content("weather", "it may rain"))
	}
	store("old", 0, content("", "the cookie of the login"))
	s.now = s.now.Add(90 * 24 * time.Hour)
	store("new", 0, content("", "the cookie of the login"))
	store("vital", 1, content("", "the cookie of the login"))
	store("title", 1, content("cookie", "of the login"))
	s.wantMemory(view.MemoryFilter{By: ann, Text: "cookie"}, "title", "vital", "new", "old")
	s.wantMemory(view.MemoryFilter{By: ann, Text: "cookie", Limit: 2}, "title", "vital")
}

func meaningStory(s *stage) {
	ann := reader("ann")
	for id, texts := range map[string][2]string{
		"id":   {"Lookup", "getUserById fails where user_id is unset; HTTPRequest says why"},
		"bill": {"Billing", "The InvoiceNumber is never used twice"},
		"de":   {"Stornorechnungen", "Sie gehen an die Weißenburger Straße; Kündigungsfristen stehen im Jahresvertrag"},
		"zh":   {"数据库连接池", "最大为五十个连接"},
		"ja":   {"ログイン認証", "パスワードを間違えるとアカウントがロックされます"},
		"en":   {"Kubernetes", "Certificates are renewed by the platform team"},
	} {
		s.know(id, memory.Remember{By: ann, ID: id, Scope: memory.Workspace, Content: content(texts[0], texts[1])})
	}
	for query, want := range map[string]string{
		"getUserById": "id", "get_user_by_id": "id", "user id": "id", "userId": "id", "http request": "id", "HttpRequest": "id",
		"invoice number": "bill", "invoice_number": "bill", "invoiceNumber": "bill", "INVOICENUMBER": "bill",
		"Rechnung": "de", "Storno": "de", "Weissenburger Strasse": "de", "WEISSENBURGER STRAẞE": "de", "Kuendigungsfrist": "de", "Frist": "de",
		"Vertrag": "de", "Vertragsjahr": "", "连接池": "zh", "数据": "zh", "池": "zh", "五十个连接": "zh", "アカウントロック": "ja", "ﾛｸﾞｲﾝ": "ja",
		"kuberntes": "en", "kubernettes": "en", "kuberneets": "en", "kubermetes": "en", "certifcate": "en", "kbrntes": "", "taem": "",
	} {
		var found []string
		if want != "" {
			found = []string{want}
		}
		if got, _ := s.search(view.MemoryFilter{By: ann, Text: query}); !slices.Equal(got, found) {
			s.Errorf("%q finds %q, want %q", query, got, found)
		}
	}
	s.know("en", memory.Forget{By: ann, ID: "en"})
	s.wantMemory(view.MemoryFilter{By: ann, Text: "kuberntes"})
	s.know("zh", memory.Revise{By: ann, ID: "zh", Content: content("缓存", "五分钟")})
	s.wantMemory(view.MemoryFilter{By: ann, Text: "连接池"})
	s.wantMemory(view.MemoryFilter{By: ann, Text: "缓存"}, "zh")
}

func oddQueryStory(s *stage) {
	ann := reader("ann")
	s.know("m1", memory.Remember{By: ann, ID: "m1", Scope: memory.Workspace, Tags: []string{"x"}, Content: content("near", "text AND OR NOT naïve 北京 C++ user@host")})
	for _, q := range []string{
		`"`, `""`, `"""`, `*`, `^`, `-`, `+`, `(`, `)`, `{}`, `:`, `'`, `;`, `--`, `\`, "\x00", "\xff\xfe", "\u202e", "!?",
		`title:`, `NEAR(`, `AND`, `{title} : zzz`, `zzz*`, `zzz AND`, `') OR 1=1 --`, strings.Repeat(`"`, 999), "\x00zzz", "\u0301",
	} {
		got, _ := s.search(view.MemoryFilter{By: ann, Text: q})
		if want := q == "AND" || q == "NEAR("; (len(got) > 0) != want && !strings.Contains(q, " AND") && !strings.Contains(q, "OR ") {
			s.Errorf("%q finds %q", q, got)
		}
	}
	for _, q := range []string{"naive", "NAÏVE", "北京", "c++", "user@host", "not", `"text"`, "te\x00xt text", "zzz\u0085text", `zzz"text`} {
		s.wantMemory(view.MemoryFilter{By: ann, Text: q}, "m1")
	}
	many := ""
	for n := range 5000 {
		many += fmt.Sprintf("w%d ", n)
	}
	s.wantMemory(view.MemoryFilter{By: ann, Text: many + " text"}) // beyond the first words
	s.wantMemory(view.MemoryFilter{By: ann, Text: strings.Repeat("zzz ", 5000) + " text"}, "m1")
	s.wantMemory(view.MemoryFilter{By: ann, Text: strings.Repeat("w", 100_000)})
	s.wantMemory(view.MemoryFilter{By: memory.Reader{Principal: identity.Principal{Role: identity.Agent, Name: "x' OR '1'='1"}}, Tag: "x' OR '1'='1"})
}

func conversationStory(s *stage) {
	ann, bob, eve := reader("ann", id(1)), reader("bob", id(1)), reader("eve", id(2))
	s.say("c1", conversation.AppendTurn{By: ann, Role: conversation.User, Text: "please", Task: id(1)})
	s.say("c2", conversation.AppendTurn{By: eve, Text: "hm"})
	s.say("c1", conversation.AppendTurn{By: bob, Text: "done", Holds: true})
	s.say("c3", conversation.AppendTurn{By: bob, Text: "a third"})
	want := func(f view.ConversationFilter, want ...string) {
		s.Helper()
		got, err := s.views.Conversations(s.ctx, s.ws, f)
		if err != nil {
			s.Fatalf("%+v: %v", f, err)
		}
		ids := []string{}
		for _, c := range got {
			ids = append(ids, c.ID)
		}
		if !slices.Equal(ids, want) {
			s.Errorf("conversations of %+v: got %q, want %q", f, ids, want)
		}
	}
	want(view.ConversationFilter{By: auditor}, "c3", "c2", "c1")
	want(view.ConversationFilter{By: auditor, Limit: 2}, "c3", "c2")
	want(view.ConversationFilter{By: auditor, After: "c2"}, "c1")
	want(view.ConversationFilter{By: auditor, Agent: "bob"}, "c3", "c1")
	want(view.ConversationFilter{By: auditor, Task: id(1)}, "c1")
	want(view.ConversationFilter{By: auditor, Task: id(1), Agent: "eve"})
	want(view.ConversationFilter{By: ann}, "c1")
	want(view.ConversationFilter{By: bob}, "c3", "c1")
	want(view.ConversationFilter{By: bob, After: "c3"}, "c1")
	want(view.ConversationFilter{By: eve}, "c2")
	want(view.ConversationFilter{By: reader("dee")})
	want(view.ConversationFilter{By: reader("dee", id(1))}, "c1")
	want(view.ConversationFilter{By: reader("ann", id(1), id(2))}, "c1")
	want(view.ConversationFilter{By: memory.Reader{Principal: identity.Principal{Role: identity.Agent, Name: "dee"}, Conversations: []string{"c3", "c2", "c9"}}}, "c3", "c2")
	want(view.ConversationFilter{By: memory.Reader{Principal: identity.Principal{Role: identity.Agent, Name: "dee"}, Tasks: []string{id(1)}, Conversations: []string{"c1", "c2"}}, Agent: "ann"}, "c1")
	want(view.ConversationFilter{})
	s.wantTurns("c1", 0, 0, "please", "done")
	s.wantTurns("c1", 1, 5, "done")
	s.wantTurns("c1", 0, 1, "please")
	s.wantTurns("c1", 2, 5)
	s.wantTurns("c9", 0, 5)
	got, err := s.views.Conversations(s.ctx, s.ws, view.ConversationFilter{By: ann})
	if err != nil || len(got) != 1 || got[0].Turns != 2 || got[0].Request != 1 || !slices.Equal(got[0].Tasks, []string{id(1)}) ||
		!slices.Equal(got[0].Speakers, []conversation.Speaker{{Agent: "ann", Turns: 1}, {Agent: "bob", Turns: 1}}) {
		s.Errorf("%+v, %v", got, err)
	}
}

func (s *stage) wantTurns(id string, after, limit int, want ...string) {
	s.Helper()
	got, err := s.views.Turns(s.ctx, s.ws, id, after, limit)
	texts := []string{}
	for n, t := range got {
		texts = append(texts, t.Text)
		if t.N != after+n+1 {
			s.Errorf("turn %d of %s has the number %d", after+n+1, id, t.N)
		}
	}
	if err != nil || !slices.Equal(texts, want) {
		s.Errorf("turns of %s after %d: %q, %v; want %q", id, after, texts, err, want)
	}
}

func tasksOfStory(s *stage) {
	want := func(principal string, limit int, want ...string) {
		s.Helper()
		if got, err := s.views.GrantingTasks(s.ctx, s.ws, principal, limit); err != nil || !slices.Equal(got, want) {
			s.Errorf("tasks of %s: got %q, %v; want %q", principal, got, err, want)
		}
	}
	for n := 1; n <= 4; n++ {
		s.create(n, agentOf("ann"))
	}
	s.do(id(1), s.to(id(1), "bob"))
	ann := reader("ann", id(1), id(2), id(3))
	s.know("m1", memory.Remember{By: ann, ID: "m1", Scope: memory.Task, Task: id(1), Content: content("", "a")})
	s.know("m2", memory.Remember{By: ann, ID: "m2", Scope: memory.Workspace, Task: id(3), Content: content("", "a")})
	s.say("c1", conversation.AppendTurn{By: ann, Text: "a", Task: id(2)})
	want("agent/ann", 0, id(2), id(1))
	want("agent/ann", 1, id(2))
	want("agent/bob", 0, id(1))
	want("agent/eve", 0)
	s.know("m1", memory.Forget{By: ann, ID: "m1"})
	s.do(id(2), handoff.Cancel{By: operator})
	want("agent/ann", 0)
	want("agent/bob", 0)

	for n := 5; n <= 7; n++ {
		s.do(id(n), handoff.Create{By: agentOf("ann"), Task: id(n), Intent: "x", Conversation: []string{"c1", "c2"}[n%2]})
	}
	s.do(id(5), handoff.Cancel{By: operator})
	want("agent/ann", 0, id(7), id(6))
	s.wantCarriers("c1", "", id(6))
	s.wantCarriers("c2", "", id(7), id(5))
	s.wantCarriers("c3", "")
	s.wantCarriers("c2", "agent/ann", id(7)) // the other one has ended
	s.wantCarriers("c2", "agent/bob")
	s.do(id(7), handoff.Start{By: agentOf("ann")})
	s.do(id(7), s.to(id(7), "bob"))
	s.wantCarriers("c2", "agent/bob", id(7))
}

func (s *stage) wantCarriers(conversation, principal string, want ...string) {
	s.Helper()
	got, err := s.views.TasksOfConversation(s.ctx, s.ws, conversation, principal, 0)
	if err != nil || len(got)+len(want) > 0 && !slices.Equal(got, want) {
		s.Errorf("%s is carried by %q to %q, %v; want %q", conversation, got, principal, err, want)
	}
}

func memoryWorkspaceStory(s *stage) {
	ann := reader("ann", id(1))
	for _, ws := range []string{"one", "two"} {
		s.ws = ws
		s.create(1, agentOf("ann"))
		s.know("m1", memory.Remember{By: ann, ID: "m1", Scope: memory.Workspace, Tags: []string{ws}, Content: content("", "shared "+ws)})
		s.know("m2", memory.Remember{By: ann, ID: "m2", Scope: memory.Task, Task: id(1), Content: content("", "ours "+ws)})
		s.say("c1", conversation.AppendTurn{By: ann, Text: "of " + ws, Task: id(1)})
	}
	s.know("m1", memory.Forget{By: ann, ID: "m1"})
	for ws, want := range map[string][]string{"one": {"m2", "m1"}, "two": {"m2"}, "three": {}} {
		s.ws = ws
		turns, tasks := []string{}, []string{}
		if ws != "three" {
			turns, tasks = append(turns, "of "+ws), append(tasks, id(1))
		}
		for _, by := range []memory.Reader{ann, auditor} {
			s.wantMemory(view.MemoryFilter{By: by}, want...)
			for _, other := range []string{"one", "two"} {
				if got, _ := s.search(view.MemoryFilter{By: by, Text: other}); len(got) > 0 && other != ws {
					s.Errorf("%s finds %q, which is of %s", ws, got, other)
				}
			}
			got, err := s.views.Conversations(s.ctx, ws, view.ConversationFilter{By: by})
			if err != nil || len(got) != len(turns) {
				s.Errorf("conversations of %s: %+v, %v", ws, got, err)
			}
		}
		s.wantTurns("c1", 0, 0, turns...)
		if got, err := s.views.GrantingTasks(s.ctx, ws, "agent/ann", 0); err != nil || !slices.Equal(got, tasks) {
			s.Errorf("tasks of %s: %q, %v", ws, got, err)
		}
	}
}
