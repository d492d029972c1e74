package console

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
)

// managesWorlds reports whether the caller may invite people to some world.
func managesWorlds(c access.Caller) bool { return bestRole(c) >= access.RoleGM }

// bestRole returns the caller's highest role in any world.
func bestRole(c access.Caller) access.Role {
	best := c.EveryRole
	for _, r := range c.Roles {
		best = max(best, r)
	}
	return best
}

// member is a person in a world.
type member struct {
	Subject string `json:"subject"`
	Role    string `json:"role"`
	May     string `json:"may"`
}

// invitation is an open invitation to a world.
type invitation struct {
	ID      string    `json:"id"`
	Role    string    `json:"role"`
	May     string    `json:"may"`
	By      string    `json:"by"`
	Uses    int       `json:"uses"`
	Used    int       `json:"used"`
	Expires time.Time `json:"expires"`
}

// people holds the data of the page of members.
type people struct {
	Members     []member
	Invitations []invitation
	Admin       bool   // the caller may change members
	Link        string // made by the last form; shown once
	LinkFor     string
	Problem     string
}

func (s *server) showMembers(v *visit) error { return v.showPeople(http.StatusOK, people{}) }

// showPeople shows the members and invitations. Only an admin sees the members.
func (v *visit) showPeople(status int, p people) error {
	open, err := call[struct {
		Invitations []invitation `json:"invitations"`
	}](v, "list_invitations", nil)
	if err != nil {
		return err
	}
	list, err := call[struct {
		Members []member `json:"members"`
	}](v, "list_members", nil)
	if err != nil && fault.KindOf(err) != fault.Denied {
		return err
	}
	p.Invitations, p.Members, p.Admin = open.Invitations, list.Members, err == nil
	return v.write(status, membersPage(v.frame("Members"), p))
}

// changeMembers carries out a form of the page of members.
func (s *server) changeMembers(v *visit) error {
	form, subject := v.r.PostForm, fields{"subject": v.r.PostFormValue("subject")}
	var p people
	var err error
	switch v.r.PathValue("do") {
	case "invite":
		p.LinkFor = "Send this link to the people you invite. It is shown only now."
		p.Link, err = v.createLink("create_invitation", fields{"uses": numberOf(form.Get("uses")),
			"days": numberOf(form.Get("days"))}.withRights(form.Get("role")), "/join")
	case "withdraw":
		_, err = call[struct{}](v, "withdraw_invitation", fields{"id": form.Get("id")})
	case "role":
		_, err = call[struct{}](v, "set_member_role", subject.withRights(form.Get("role")))
	case "end":
		_, err = call[struct{}](v, "end_membership", subject)
	case "sign-in":
		p.LinkFor = "This link signs " + form.Get("subject") + " in, once, within ten minutes. It is shown only now."
		p.Link, err = v.createLink("create_sign_in_link", subject, "/sign-in")
	default:
		err = errNothingHere
	}
	if p.Problem, _ = problemOf(err); err != nil && p.Problem == "" {
		return err
	}
	if p.Problem == "" && p.Link == "" {
		return v.redirect(addressOf("members", v.world))
	}
	return v.showPeople(statusOf(err), p)
}

// withRights adds the role, and the right of a player, that a word of rightChoices means.
func (f fields) withRights(word string) fields {
	if _, isRole := access.ParseRole(word); isRole || word == "" {
		return f.with("role", word)
	}
	return f.with("role", access.RoleUser.String()).with("may", word)
}

// rightsWord returns the word of rightChoices for a role and the right of a player.
func rightsWord(role, may string) string {
	if role == access.RoleUser.String() && may != "" {
		return may
	}
	return role
}

// statusOf returns the status of a page that shows an error in its form, or none.
func statusOf(err error) int {
	if err != nil {
		return fault.KindOf(err).HTTPStatus()
	}
	return http.StatusOK
}

var errNothingHere = fault.New(fault.NotFound, "there is nothing at this address")

// createLink invokes an operation that makes a code, and returns the link that carries the code to a page.
// The code stands in the fragment, which browsers do not send.
func (v *visit) createLink(operation string, in fields, page string) (string, error) {
	out, err := call[struct {
		Code string `json:"code"`
	}](v, operation, in)
	if err != nil {
		return "", err
	}
	return v.s.originOf(v.r) + page + "#" + out.Code, nil
}

// originOf returns the address at which the browser reached the server.
func (s *server) originOf(r *http.Request) string {
	if s.PublicURL != "" {
		return s.PublicURL
	}
	if isHTTPS(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// joining is the state of the page on which an invitation is accepted.
type joining struct {
	Code    string // "" asks for it
	World   string
	Rights  string         // of the invited, as a word of rightChoices
	Subject access.Subject // of the person who is signed in and can accept it as that person
	Issuers []identity.SignInIssuer
	Problem string
}

func (s *server) showJoin(w http.ResponseWriter, _ *http.Request) {
	writePage(w, http.StatusOK, joinPage(joining{}))
}

// join shows an invitation, and accepts it once the person has given a name or agreed to join as the
// person who is signed in. Wrong codes count as wrong credentials.
func (s *server) join(w http.ResponseWriter, r *http.Request) {
	j := joining{Code: r.PostFormValue("code"), Issuers: s.Sessions.SignInIssuers()}
	i, err := s.Sessions.FindInvitation(r.Context(), j.Code)
	if err == nil {
		j.World, err = s.TitleOf(r.Context(), i.World)
		j.Rights = rightsWord(i.Role.String(), i.May.String())
	}
	if err != nil {
		if fault.KindOf(err) == fault.NotFound {
			if limited := s.Wrong(r, identity.Unknown("an invitation's code")); fault.KindOf(limited) == fault.RateLimited {
				err = limited
			}
		}
		writePage(w, fault.KindOf(err).HTTPStatus(), joinPage(joining{Problem: fault.Show(err, "").Error.Message}))
		return
	}
	v := &visit{w: w, r: r, s: s}
	if s.findCaller(v) == nil && s.followsMemberships(v) {
		j.Subject = v.caller.Subject
	}
	token := ""
	switch {
	case r.PostFormValue("as") == string(j.Subject) && j.Subject != "":
		_, err = s.Sessions.Accept(r.Context(), j.Code, j.Subject)
	case r.PostFormValue("name") != "":
		_, token, err = s.Sessions.Join(r.Context(), j.Code, r.PostFormValue("name"))
	default:
		writePage(w, http.StatusOK, joinPage(j))
		return
	}
	if err != nil {
		j.Problem = fault.Show(err, "").Error.Message
		writePage(w, fault.KindOf(err).HTTPStatus(), joinPage(j))
		return
	}
	if token != "" {
		s.setCookie(w, r, token, int(identity.SessionLife.Seconds()))
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// followsMemberships reports whether the visit's session opens all worlds of which its person is a member.
func (s *server) followsMemberships(v *visit) bool {
	own, err := s.Sessions.OwnOf(v.r.Context(), v.caller.Key)
	return err == nil && own.FollowsMemberships()
}

// programKey is the key of a program.
type programKey struct {
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	Subject  string     `json:"subject"`
	Actor    string     `json:"actor"`
	Role     string     `json:"role"`
	May      string     `json:"may"`
	Surfaces []string   `json:"surfaces"`
	By       string     `json:"by"`
	Created  time.Time  `json:"created"`
	Expires  *time.Time `json:"expires"`
	Others   bool       `json:"others"`
}

// createdKey is a key just made, with its secret.
type createdKey struct {
	Key    programKey `json:"key"`
	Secret string     `json:"secret"`
}

// keyList holds the data of the page of keys.
type keyList struct {
	Keys     []programKey `json:"keys"`
	Surfaces []string     `json:"surfaces"`
	Secret   string       `json:"-"` // of the key just made; shown once
	Made     string       `json:"-"` // its name
	Connect  string       `json:"-"` // address for its client
	Problem  string       `json:"-"`
	Form     url.Values   `json:"-"`
}

func (s *server) showKeys(v *visit) error { return v.showKeyList(http.StatusOK, keyList{}) }

func (v *visit) showKeyList(status int, shown keyList) error {
	list, err := call[keyList](v, "list_keys", nil)
	if err != nil {
		return err
	}
	shown.Keys, shown.Surfaces, shown.Connect = list.Keys, list.Surfaces, v.s.originOf(v.r)+"/mcp"
	return v.write(status, keysPage(v.frame("Keys"), shown))
}

// changeKeys carries out a form of the page of keys.
func (s *server) changeKeys(v *visit) error {
	form := v.r.PostForm
	var made createdKey
	var err error
	switch v.r.PathValue("do") {
	case "create":
		in := fields{"name": form.Get("name")}.with("role", form.Get("role")).with("may", form.Get("may"))
		if chosen := form["surfaces"]; len(chosen) > 0 {
			in["surfaces"] = chosen
		}
		if days := form.Get("days"); days != "" {
			in["days"] = numberOf(days)
		}
		made, err = call[createdKey](v, "create_key", in)
	case "rotate":
		made, err = call[createdKey](v, "rotate_key", fields{"id": form.Get("id")})
	case "end":
		if _, err = call[struct{}](v, "end_key", fields{"id": form.Get("id")}); err == nil {
			return v.redirect(addressOf("keys", v.world))
		}
	default:
		err = errNothingHere
	}
	shown := keyList{Secret: made.Secret, Made: made.Key.Name, Form: form}
	if shown.Problem, _ = problemOf(err); err != nil && shown.Problem == "" {
		return err
	}
	return v.showKeyList(statusOf(err), shown)
}

// personsText names how many people have accepted an invitation.
func personsText(i invitation) string {
	return strconv.Itoa(i.Used) + " of " + strconv.Itoa(i.Uses) + " used"
}
