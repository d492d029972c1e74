package postgres_test

import (
	"net/url"
	"strings"
	"testing"

	"loregate/internal/fault"
	"loregate/internal/store/postgres"
	"loregate/internal/store/postgres/pgtest"
)

// TestWrongAddresses opens addresses with one fault each. The message or its remedy names the fault, and no message
// shows a part of the password.
func TestWrongAddresses(t *testing.T) {
	address := pgtest.Empty(t)
	change := func(f func(u *url.URL, q url.Values)) string {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		f(u, q)
		u.RawQuery = q.Encode()
		return u.String()
	}
	for _, tt := range []struct {
		name, address string
		message       string // part of the error
		remedy        string // part of its remedy
	}{
		{"no such database", change(func(u *url.URL, _ url.Values) { u.Path = "/nowhere" }), "refuses this server", "createdb"},
		{"no such user", change(func(u *url.URL, _ url.Values) { u.User = url.User("nobody") }), "refuses this server", "createuser"},
		{"nobody listens", change(func(_ *url.URL, q url.Values) { q.Set("port", "1") }), "does not answer", "start PostgreSQL"},
		{"no certificate", "postgres://loregate:secret@127.0.0.1/loregate?sslmode=verify-full&sslrootcert=/absent.pem",
			"open /absent.pem", ""},
		{"a mode that is none", "postgres://loregate:secret@127.0.0.1/loregate?sslmode=full", "sslmode is invalid", ""},
		{"an @ in the password", "postgres://loregate:se@cret@127.0.0.1/loregate", "as %40", ""},
		{"no port", "postgres://loregate:secret@127.0.0.1:99999/loregate", "cannot be read; write postgres://", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := postgres.Open(t.Context(), postgres.Config{URL: tt.address})
			if err == nil {
				_ = s.Close()
				t.Fatal("it opens")
			}
			if text := err.Error(); !strings.Contains(text, tt.message) || strings.Contains(text, "cret") {
				t.Errorf("error %q, want %q in it", text, tt.message)
			}
			if remedy := postgres.Remedy(err); !strings.Contains(remedy, tt.remedy) {
				t.Errorf("remedy %q, want %q in it", remedy, tt.remedy)
			}
		})
	}
	s, err := postgres.Open(t.Context(), postgres.Config{URL: address, Existing: true})
	if fault.KindOf(err) != fault.Invalid {
		if err == nil {
			_ = s.Close()
		}
		t.Errorf("a database without a store: %v", err)
	}
}
