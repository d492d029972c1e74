package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"loregate/internal/fault"
	"loregate/internal/identity"
)

// cookieName returns the name of the session cookie. On https it has the prefix that makes browsers
// refuse a cookie from another host or over http.
func (s *server) cookieName(r *http.Request) string {
	if isHTTPS(r) {
		return "__Host-loregate-" + s.Instance
	}
	return "loregate-" + s.Instance
}

// isHTTPS reports whether the browser reached the server over https. The outer layers remove the
// header if the peer is no trusted proxy.
func isHTTPS(r *http.Request) bool {
	return r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
}

func (s *server) setCookie(w http.ResponseWriter, r *http.Request, token string, maxAge int) {
	setNamedCookie(w, r, s.cookieName(r), token, maxAge)
}

func setNamedCookie(w http.ResponseWriter, r *http.Request, name, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true,
		Secure: isHTTPS(r), SameSite: http.SameSiteLaxMode})
}

// findCaller fills in the caller of the visit's session. A session that has used up half of its life
// is renewed. The error is fault.Unauthorized if there is no session.
func (s *server) findCaller(v *visit) (err error) {
	cookie, err := v.r.Cookie(s.cookieName(v.r))
	if err != nil {
		return fault.New(fault.Unauthorized, "sign in first")
	}
	token := cookie.Value
	if v.caller, err = s.Sessions.Authenticate(v.r.Context(), token, identity.AudienceConsole); err != nil {
		return err
	}
	if v.r.Method != http.MethodGet {
		return nil
	}
	renewed, err := s.Sessions.RenewSession(v.r.Context(), token)
	if err != nil || renewed == "" {
		return err
	}
	s.setCookie(v.w, v.r, renewed, int(identity.SessionLife.Seconds()))
	v.caller, err = s.Sessions.Authenticate(v.r.Context(), renewed, identity.AudienceConsole)
	return err
}

// sendToSignIn sends a person to the sign-in page, which returns to the same address afterwards. A client
// opens the page of consent at the address that it knows; on a loopback address people sign in at another
// host, see identity.PagesHost.
func (s *server) sendToSignIn(w http.ResponseWriter, r *http.Request) {
	to := "/sign-in"
	if r.URL.Path == "/authorize" && r.Method == http.MethodGet && identity.PagesURL(s.originOf(r)) != s.originOf(r) {
		http.Redirect(w, r, identity.PagesURL(s.originOf(r))+r.URL.RequestURI(), http.StatusSeeOther)
		return
	}
	if r.Method == http.MethodGet && r.URL.Path != "/" {
		to += "?to=" + url.QueryEscape(r.URL.RequestURI())
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// showSignIn shows the form. A secret in the fragment of its address never reaches the server's log:
// a script fills it in and sends the form.
func (s *server) showSignIn(w http.ResponseWriter, r *http.Request) {
	s.writeSignIn(w, r, http.StatusOK, localPath(r.URL.Query().Get("to")), "")
}

// signIn exchanges a key or a sign-in code for a session.
func (s *server) signIn(w http.ResponseWriter, r *http.Request) {
	_, token, err := s.Sessions.OpenSession(r.Context(), strings.TrimSpace(r.PostFormValue("secret")))
	s.finishSignIn(w, r, r.PostFormValue("to"), token, err, "This key or code does not work. Codes work once, for ten "+
		"minutes; ask for a new one, or use a key.")
}

// finishSignIn sets the cookie of a new session and goes to the page that the person wanted, or shows why
// there is no session. Wrong credentials count against the browser's address.
func (s *server) finishSignIn(w http.ResponseWriter, r *http.Request, to, token string, err error, wrong string) {
	to = localPath(to)
	if errors.Is(err, fault.Unauthorized) {
		if err = s.Wrong(r, err); errors.Is(err, fault.Unauthorized) {
			s.writeSignIn(w, r, http.StatusUnauthorized, to, wrong)
			return
		}
	}
	if err != nil {
		s.writeSignIn(w, r, fault.KindOf(err).HTTPStatus(), to, fault.Show(err, "").Error.Message)
		return
	}
	s.setCookie(w, r, token, int(identity.SessionLife.Seconds()))
	http.Redirect(w, r, to, http.StatusSeeOther)
}

func (s *server) writeSignIn(w http.ResponseWriter, r *http.Request, status int, to, problem string) {
	writePage(w, status, signInPage(to, problem, s.Sessions.SignInIssuers(), s.passkeyProblem(r) == ""))
}

// signOut ends the session in the store, so that a copy of the cookie is worthless, and has the
// browser forget what it keeps for this host.
func (s *server) signOut(w http.ResponseWriter, r *http.Request) {
	v := &visit{w: w, r: r, s: s}
	err := s.findCaller(v)
	if err == nil {
		err = v.endSession()
	}
	if err != nil && fault.KindOf(err).IsOurs() { // otherwise there is no session to end
		v.showError(err)
		return
	}
	s.setCookie(w, r, "", -1)
	w.Header().Set("Clear-Site-Data", `"cache", "storage"`)
	http.Redirect(w, r, "/sign-in", http.StatusSeeOther)
}

// endSession ends the visit's session, and has the browser forget its cookie.
func (v *visit) endSession() error {
	if err := v.s.Sessions.EndOwn(v.r.Context(), v.caller.Key, v.caller.Key); err != nil {
		return err
	}
	v.s.setCookie(v.w, v.r, "", -1)
	return nil
}

// localPath returns a path of this server: to, or / if to would lead elsewhere.
func localPath(to string) string {
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") {
		return "/"
	}
	return to
}

// endOwn returns the handler that ends one of the person's credentials, which a field of the form names. Sessions that
// a passkey opened are ended by themselves.
func (s *server) endOwn(field string) pageHandler {
	return func(v *visit) (err error) {
		if id := v.r.PostFormValue(field); id == "others" {
			err = s.Sessions.EndOtherSessions(v.r.Context(), v.caller.Key)
		} else {
			err = s.Sessions.EndOwn(v.r.Context(), v.caller.Key, id)
		}
		if err != nil {
			return err
		}
		return v.redirect("/account")
	}
}
