package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"regexp"

	"loregate/internal/access"
	"loregate/internal/console"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// An engine that knows one card.
type oneCard struct{}

func (oneCard) Invoke(_ context.Context, c access.Caller, r op.Request) (*op.Answer, error) {
	switch r.Operation {
	case "get_card":
		return &op.Answer{Output: json.RawMessage(`{"name": "Rent Quay", "content": "Near the [[Rent Stone]]."}`)}, nil
	case "get_relationships":
		return &op.Answer{Output: json.RawMessage(`{"cards": []}`)}, nil
	}
	return nil, fault.New(fault.NotFound, "no such operation")
}

func (oneCard) Foresee(context.Context, access.Caller, op.Request) (access.WorldID, error) {
	return access.WorldID{}, nil
}

// Sessions that know one session.
type oneSession struct{ sessions }

type sessions = console.Sessions

func (oneSession) Authenticate(context.Context, string, string) (access.Caller, error) {
	return access.Caller{Subject: "ada"}, nil
}

func (oneSession) RenewSession(context.Context, string) (string, error) { return "", nil }

// A card's page shows its text with its references as links.
func Example() {
	pages, err := console.New(console.Config{Engine: oneCard{}, Sessions: oneSession{}, Instance: "x"})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := httptest.NewRequest("GET", "/w/main/Rent%20Quay", nil)
	r.Header.Set("Cookie", "loregate-x=lgs_x")
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, r)
	fmt.Println(w.Code, regexp.MustCompile(`Near.*?</a>`).FindString(w.Body.String()))
	// Output: 200 Near the <a href="/w/main/Rent%20Stone">Rent Stone</a>
}
