package console

import (
	"net/http"

	"loregate/internal/fault"
	"loregate/internal/identity"
)

// issuerPath precedes an issuer's name in the address at which a sign-in by it begins, and to which it sends the browser
// back. Each issuer has its own, so that the answer of one is not taken for another's.
const issuerPath = "/sign-in/issuer/"

// issuerCookie returns the name of the cookie that keeps a sign-in until the issuer's answer.
func (s *server) issuerCookie(r *http.Request) string { return s.cookieName(r) + "-issuer" }

// beginIssuer sends the browser to an issuer. It goes there from a page of its own: form-action forbids a form to lead
// elsewhere.
func (s *server) beginIssuer(w http.ResponseWriter, r *http.Request) {
	name, to := r.PathValue("issuer"), localPath(r.PostFormValue("to"))
	address, begun, err := s.Sessions.BeginIssuerSignIn(r.Context(), identity.IssuerSignIn{Issuer: name, To: to,
		Redirect: s.PublicURL + issuerPath + name, Invitation: r.PostFormValue("code")})
	if err != nil {
		s.finishSignIn(w, r, to, "", err, "")
		return
	}
	setNamedCookie(w, r, s.issuerCookie(r), begun, int(identity.SignInLife.Seconds()))
	w.Header().Set("Refresh", "0;url="+address)
	writePage(w, http.StatusOK, leavePage(s.labelOf(name), address))
}

// labelOf returns the label of an issuer by which people sign in.
func (s *server) labelOf(name string) string {
	for _, i := range s.Sessions.SignInIssuers() {
		if i.Name == name {
			return i.Label
		}
	}
	return name
}

// finishIssuer opens a session for an issuer's answer, and accepts the invitation that the person came with.
func (s *server) finishIssuer(w http.ResponseWriter, r *http.Request) {
	begun := ""
	if c, err := r.Cookie(s.issuerCookie(r)); err == nil {
		begun = c.Value
		setNamedCookie(w, r, s.issuerCookie(r), "", -1)
	}
	name, q := r.PathValue("issuer"), r.URL.Query()
	in, session, token, err := s.Sessions.OpenIssuerSession(r.Context(), begun, identity.IssuerAnswer{Issuer: name,
		State: q.Get("state"), Code: q.Get("code"), Iss: q.Get("iss"), Error: q.Get("error")})
	if err == nil && in.Invitation != "" {
		if _, err := s.Sessions.Accept(r.Context(), in.Invitation, session.Subject); err != nil {
			s.setCookie(w, r, token, int(identity.SessionLife.Seconds()))
			writePage(w, fault.KindOf(err).HTTPStatus(), joinPage(joining{Problem: fault.Show(err, "").Error.Message}))
			return
		}
	}
	s.finishSignIn(w, r, in.To, token, err, "This sign-in did not work. It must end in the browser in which it began, "+
		"within ten minutes, at "+s.originOf(r)+". Try again from there.")
}
