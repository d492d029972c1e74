package console_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"loregate/internal/access"
	"loregate/internal/console"
	"loregate/internal/fault"
)

// brokenSessions cannot read or end a session, with these errors.
type brokenSessions struct {
	sessions
	read, end error
}

func (s brokenSessions) Authenticate(context.Context, string, string) (access.Caller, error) {
	return access.Caller{Subject: "ada"}, s.read
}

func (s brokenSessions) EndOwn(context.Context, string, string) error { return s.end }

// A person is told of a session that could not be ended, and keeps its cookie to try again.
func TestSignOutSaysThatItFailed(t *testing.T) {
	down, unknown := fault.New(fault.Unavailable, "the database is down"), fault.New(fault.Unauthorized, "no such session")
	for name, row := range map[string]struct {
		sessions brokenSessions
		status   int
	}{
		"not read": {brokenSessions{read: down}, 503}, "not ended": {brokenSessions{end: down}, 503},
		"there is none": {brokenSessions{read: unknown}, 303}, "ended": {brokenSessions{}, 303},
	} {
		pages, err := console.New(console.Config{Engine: oneCard{}, Sessions: row.sessions, Instance: "x"})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("POST", "/sign-out", nil)
		r.Header.Set("Cookie", "loregate-x=lgs_x")
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, r)
		if forgotten := w.Header().Get("Set-Cookie") != ""; w.Code != row.status || forgotten != (row.status == 303) {
			t.Errorf("%s: %d, cookie forgotten: %v", name, w.Code, forgotten)
		}
	}
}
