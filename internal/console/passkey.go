package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"loregate/internal/fault"
	"loregate/internal/identity"
)

// passkeyOrigin returns the origin to which the passkeys of the pages belong. It is the configured one or a
// loopback one, so that a forged Host header makes no other; "" if there is neither.
func (s *server) passkeyOrigin(r *http.Request) string {
	at := s.originOf(r)
	if u, err := url.Parse(at); s.PublicURL == "" && (err != nil || !identity.IsLoopbackHost(u.Hostname())) {
		return ""
	}
	return at
}

// passkeyProblem returns why the pages have no passkeys at the address that the browser uses; "" if they do.
func (s *server) passkeyProblem(r *http.Request) string {
	if err := identity.CheckPasskeyOrigin(s.passkeyOrigin(r)); err != nil {
		return fault.Show(err, "").Error.Message
	}
	return ""
}

// askPasskey sends the question to an authenticator as JSON.
func (s *server) askPasskey(w http.ResponseWriter, r *http.Request) {
	c, err := s.Sessions.BeginPasskeySignIn(s.passkeyOrigin(r))
	writeJSON(w, c, err)
}

// writeJSON sends an answer to a script, or the error in its place.
func writeJSON(w http.ResponseWriter, answer any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(fault.KindOf(err).HTTPStatus())
		answer = fault.Show(err, "")
	}
	_ = json.NewEncoder(w).Encode(answer) // a client that has disconnected needs no answer
}

// signInByPasskey opens a session for an authenticator's answer.
func (s *server) signInByPasskey(w http.ResponseWriter, r *http.Request) {
	_, token, err := s.Sessions.OpenPasskeySession(r.Context(), s.passkeyOrigin(r), r.PostFormValue("state"),
		r.PostFormValue("answer"))
	s.finishSignIn(w, r, r.PostFormValue("to"), token, err, "This passkey was not accepted. Try again, or use a key or a code.")
}

// showAccount lists the person's sessions, passkeys and clients.
func (s *server) showAccount(v *visit) error { return v.showAccount(http.StatusOK, "") }

func (v *visit) showAccount(status int, problem string) error {
	own, err := v.s.Sessions.OwnOf(v.r.Context(), v.caller.Key)
	if err != nil {
		return err
	}
	a := account{Problem: problem, NoPasskeys: v.s.passkeyProblem(v.r), Sessions: own.Sessions, Passkeys: own.Passkeys,
		Grants: showGrants(own.Grants), Bound: len(own.Session.Worlds) > 0}
	if err := identity.CheckPasskeyOf(own.Session.KeySpec); err != nil {
		a.NoPasskeys = fault.Show(err, "").Error.Message
	}
	return v.write(status, accountPage(v.frame("Account"), a, v.caller))
}

func (s *server) askNewPasskey(v *visit) error {
	c, err := s.Sessions.BeginPasskey(v.r.Context(), s.passkeyOrigin(v.r), v.caller.Key)
	writeJSON(v.w, c, err)
	return nil
}

func (s *server) addPasskey(v *visit) error {
	form := v.r.PostForm
	_, err := s.Sessions.AddPasskey(v.r.Context(), s.passkeyOrigin(v.r), v.caller.Key, form.Get("name"),
		form.Get("state"), form.Get("answer"))
	if errors.Is(err, fault.Unauthorized) {
		return v.showAccount(http.StatusUnprocessableEntity, "The passkey was not accepted. Try again.")
	}
	if problem, _ := problemOf(err); problem != "" {
		return v.showAccount(statusOf(err), problem)
	}
	if err != nil {
		return err
	}
	return v.redirect("/account")
}
