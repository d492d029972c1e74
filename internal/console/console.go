package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"loregate/internal/access"
	"loregate/internal/body"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/op"
)

// Engine invokes operations. It is *op.Local.
type Engine interface {
	Invoke(ctx context.Context, c access.Caller, r op.Request) (*op.Answer, error)
	Foresee(ctx context.Context, c access.Caller, r op.Request) (access.WorldID, error)
}

// Sessions keeps the sessions of people. It is *identity.Service.
type Sessions interface {
	OpenSession(ctx context.Context, secret string) (identity.Key, string, error)
	RenewSession(ctx context.Context, token string) (string, error)
	OwnOf(ctx context.Context, session string) (identity.Own, error)
	EndOwn(ctx context.Context, session, id string) error
	EndOtherSessions(ctx context.Context, session string) error
	Authenticate(ctx context.Context, bearer, audience string) (access.Caller, error)
	FindInvitation(ctx context.Context, code string) (identity.Invitation, error)
	Accept(ctx context.Context, code string, subject access.Subject) (identity.Membership, error)
	FindClient(ctx context.Context, person access.Subject, id string) (identity.Client, error)
	CreateCode(ctx context.Context, c identity.Consent) (string, error)
	Join(ctx context.Context, code, name string) (identity.Membership, string, error)
	BeginPasskey(ctx context.Context, origin, session string) (identity.Ceremony, error)
	AddPasskey(ctx context.Context, origin, session, name, state, answer string) (identity.Key, error)
	BeginPasskeySignIn(origin string) (identity.Ceremony, error)
	OpenPasskeySession(ctx context.Context, origin, state, answer string) (identity.Key, string, error)
	SignInIssuers() []identity.SignInIssuer
	BeginIssuerSignIn(ctx context.Context, r identity.IssuerSignIn) (address, state string, err error)
	OpenIssuerSession(ctx context.Context, begun string, a identity.IssuerAnswer) (identity.IssuerSignIn, identity.Key,
		string, error)
}

// Config has the parts of a console. All fields but Logger are needed.
type Config struct {
	Engine   Engine
	Sessions Sessions
	// Instance tells the cookies of several servers on one host apart, since cookies ignore ports.
	Instance string
	// Wrong counts a failed attempt to sign in against the address that it came from, and returns the
	// error to show.
	Wrong func(r *http.Request, err error) error
	// TitleOf returns the title of a world, for somebody who was invited to it.
	TitleOf func(ctx context.Context, w access.WorldID) (string, error)
	// PublicURL is the address at which browsers reach the server, without a trailing slash; "" takes it
	// from each request.
	PublicURL string
	Surfaces  []string // that a client may be limited to
	// Follow sends a feed of a world to a page. again authenticates the reader again.
	Follow func(r *http.Request, c access.Caller, again func(context.Context) (access.Caller, error), feed,
		world string, vars map[string]string) error
	// Bodies bounds the bytes of requests in memory and on disk; nil is one with the defaults.
	Bodies *body.Intake
	Logger *slog.Logger // slog.Default when nil
}

type server struct {
	Config
	mux *http.ServeMux
}

// New returns the handler of the console's pages.
func New(c Config) (http.Handler, error) {
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.Bodies == nil {
		var err error
		if c.Bodies, err = body.New(body.Config{}); err != nil {
			return nil, err
		}
	}
	s := &server{Config: c, mux: http.NewServeMux()}
	s.mux.HandleFunc("GET /assets/{file}", serveAsset)
	s.mux.HandleFunc("GET /sign-in", s.showSignIn)
	s.mux.HandleFunc("POST /sign-in", s.withForm(s.signIn))
	s.mux.HandleFunc("POST /sign-in/passkey/ask", s.withForm(s.askPasskey))
	s.mux.HandleFunc("POST /sign-in/passkey", s.withForm(s.signInByPasskey))
	s.mux.HandleFunc("POST "+issuerPath+"{issuer}", s.withForm(s.beginIssuer))
	s.mux.HandleFunc("GET "+issuerPath+"{issuer}", s.finishIssuer)
	s.mux.HandleFunc("POST /sign-out", s.withForm(s.signOut))
	s.mux.HandleFunc("GET /join", s.showJoin)
	s.mux.HandleFunc("POST /join", s.withForm(s.join))
	for pattern, h := range map[string]pageHandler{
		"GET /{$}":                          s.showHome,
		"GET /home/{world}":                 s.showOverview,
		"GET /account":                      s.showAccount,
		"POST /account/end":                 s.endOwn("session"),
		"POST /account/end-grant":           s.endOwn("grant"),
		"POST /account/passkey/ask":         s.askNewPasskey,
		"POST /account/passkey":             s.addPasskey,
		"POST /account/end-passkey":         s.endOwn("passkey"),
		"GET /authorize":                    s.showConsent,
		"POST /authorize":                   s.decideConsent,
		"GET /w/{world}":                    s.showCards,
		"GET /w/{world}/{name...}":          s.showCard,
		"GET /hovercard/{world}/{name...}":  s.showHovercard,
		"GET /file/{world}/{name...}":       s.sendFile,
		"GET /new/{world}":                  s.showNew,
		"POST /new/{world}":                 s.createCard,
		"GET /new/{world}/several":          s.showSeveral,
		"POST /new/{world}/several":         s.createSeveral,
		"GET /names/{world}":                s.completeName,
		"GET /edit/{world}/{name...}":       s.showEdit,
		"POST /edit/{world}/{name...}":      s.updateCard,
		"POST /level/{world}/{name...}":     s.setLevel,
		"POST /delete/{world}/{name...}":    s.deleteCard,
		"GET /hide/{world}/{name...}":       s.showHide,
		"POST /hide/{world}/{name...}":      s.hidePassage,
		"GET /part/{world}/{name...}":       s.showPart,
		"POST /part/{world}/{name...}":      s.revealParts,
		"GET /rename/{world}/{name...}":     s.showRename,
		"POST /rename/{world}/{name...}":    s.renameCard,
		"GET /history/{world}/{name...}":    s.showHistory,
		"POST /restore/{world}/{name...}":   s.restoreVersion,
		"GET /changes/{world}":              s.showChanges,
		"GET /tree/{world}":                 s.showTree,
		"GET /wanted/{world}":               s.showWanted,
		"GET /trash/{world}":                s.showTrash,
		"POST /trash/{world}":               s.restoreTrashed,
		"GET /audit/{world}":                s.showAudit,
		"POST /changes/{world}/{id}/undo":   s.undoChange,
		"GET /changes/{world}/{id}/import":  s.showUndoImport,
		"POST /changes/{world}/{id}/import": s.undoImport,
		"GET /campaign/{world}":             s.showEntities,
		"GET /campaign/{world}/{id}":        s.showEntity,
		"POST /reveal/{world}/{id}":         s.reveal,
		"POST /reveal/{world}/{id}/{do}":    s.reveal,
		"GET /graph/{world}/{id}":           s.showGraph,
		"GET /timeline/{world}":             s.showTimeline,
		"POST /timeline/{world}/{do}":       s.changeTimeline,
		"GET /sessions/{world}":             s.showSessions,
		"POST /sessions/{world}/{id}":       s.changeSessions,
		"GET /conflicts/{world}":            s.showConflicts,
		"POST /conflicts/{world}/{id}":      s.decideConflict,
		"GET /places/{world}":               s.showPlaces,
		"GET /live/{world}/{of}":            s.followFeed,
		"GET /map/{world}/{name...}":        s.showMap,
		"POST /map/{world}/{name...}":       s.changePins,
		"GET /studio/{world}":               s.showStudio,
		"POST /studio/{world}":              s.planScene,
		"POST /studio/{world}/{plan}":       s.carryOut,
		"GET /run/{world}/{id}":             s.showRun,
		"POST /run/{world}/{id}/undo":       s.undoRun,
		"GET /artifact/{world}/{id}":        s.sendArtifact,
		"GET /view/{world}/{id}":            s.showModel,
		"GET /agents/{world}":               s.showAgents,
		"POST /agents/{world}/switch":       s.switchAgent,
		"POST /agents/{world}/end":          s.endStanding,
		"GET /usage/{world}":                s.showUsage,
		"GET /prompt/{world}/{id}":          s.showPrompt,
		"GET /games/{world}":                s.showGames,
		"POST /games/{world}/{do}":          s.changeGames,
		"GET /health":                       s.showHealth,
		"POST /health/backup":               s.createBackup,
		"POST /health/verify":               s.verifyStore,
		"GET /import/{world}":               s.showImport,
		"GET /import/{world}/{id}":          s.showImportJob,
		"POST /import/{world}/{id}/{do}":    s.decideImport,
		"GET /export/{world}":               s.exportWorld,
		"GET /proposals/{world}":            s.showProposals,
		"GET /play/world/{world}":           s.showPlay,
		"POST /play/world/{world}":          s.createPlayer,
		"GET /play/world/{world}/{id}":      s.showPlayer,
		"POST /play/world/{world}/{id}":     s.sendCommand,
		"GET /proposals/{world}/{id}":       s.showProposal,
		"POST /proposals/{world}/{id}/{do}": s.decideProposal,
		"POST /proposals/{world}":           s.decideAll,
		"GET /members/{world}":              s.showMembers,
		"POST /members/{world}/{do}":        s.changeMembers,
		"GET /keys/{world}":                 s.showKeys,
		"POST /keys/{world}/{do}":           s.changeKeys,
	} {
		s.mux.HandleFunc(pattern, s.withSession(h))
	}
	s.mux.HandleFunc("POST /attach/{world}", s.withUpload("upload_attachment", s.attachPicture))
	s.mux.HandleFunc("POST /import/{world}", s.withUpload("check_import", s.checkUpload))
	return s, nil
}

// policy lets pages load scripts, styles and pictures of this server, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// maxForm bounds a form: a card of the greatest length, with each byte encoded as three.
const maxForm = 4 << 20

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "same-origin") // with no-referrer, forms would be sent with the origin null
	if r.Method != http.MethodPost {
		r.Body = http.NoBody // no page reads one, and http.Request would parse it as a form
	}
	s.mux.ServeHTTP(w, r)
}

// visit is one request of a person who is signed in.
type visit struct {
	w      http.ResponseWriter
	r      *http.Request
	s      *server
	caller access.Caller // as the page shows the world
	as     string        // role to which the caller is lowered by the address; "" if it is not
	world  string        // slug of the world in the address; "" if there is none
	hold   *body.Hold    // of the request's bytes in memory and on disk; nil before the caller is known
}

type pageHandler func(v *visit) error

// errWrongForm is the error for a form that cannot be read.
var errWrongForm = fault.New(fault.Invalid, "the form could not be read, or is larger than 4 MiB; shorten the text")

// withSession answers requests of people who are signed in, and sends others to the sign-in page.
func (s *server) withSession(h pageHandler) http.HandlerFunc {
	return s.withVisit(func(v *visit) error {
		if v.r.Method != http.MethodPost {
			return nil
		}
		return v.readForm(maxForm, errWrongForm)
	}, h)
}

// withVisit is withSession with another way to read the request's body.
func (s *server) withVisit(read, h pageHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &visit{w: w, r: r, s: s, world: r.PathValue("world")}
		err := s.findCaller(v)
		if errors.Is(err, fault.Unauthorized) {
			s.sendToSignIn(w, r)
			return
		}
		v.hold = s.Bodies.NewHold(string(v.caller.Subject), "")
		defer v.hold.Release()
		if err == nil {
			err = read(v)
		}
		if err == nil {
			err = v.lower(r.FormValue("as"))
		}
		if err == nil {
			err = h(v)
		}
		if err != nil {
			v.showError(err)
		}
	}
}

// lower lowers the caller to a role, so that the page shows what that role sees. The role is never
// raised, and a lowered caller decides on nothing.
func (v *visit) lower(role string) (err error) {
	v.caller, err = lowered(v.caller, role)
	v.as = role
	return err
}

// lowered returns the caller lowered to a role, or as it is for "".
func lowered(c access.Caller, role string) (access.Caller, error) {
	if role == "" {
		return c, nil
	}
	r, ok := access.ParseRole(role)
	if !ok || r != access.RoleUser && r != access.RoleGM {
		return c, fault.BadField("as", "must be user or gm")
	}
	return c.Lower(r), nil
}

// call invokes an operation in the visit's world and decodes its output. in is encoded as JSON; nil
// is no input.
func call[Out any](v *visit, operation string, in any) (out Out, err error) {
	return callUpload[Out](v, operation, in, nil)
}

// callUpload is call with a file, which fills the input's field of bytes.
func callUpload[Out any](v *visit, operation string, in any, file *body.File) (out Out, err error) {
	a, err := v.invoke(operation, in, file)
	if err != nil {
		return out, err
	}
	if a.Reply.Diverted {
		var p proposedError
		return out, cmp.Or[error](json.Unmarshal(a.Output, &p), &p)
	}
	return out, json.Unmarshal(a.Output, &out)
}

// proposedError is the result of a write whose caller may only propose: the proposal that it became.
type proposedError struct {
	ID       string     `json:"proposalId"`
	Rejected *rejection `json:"rejection"`
}

func (*proposedError) Error() string { return "the change became a proposal" }

func (v *visit) invoke(operation string, in any, file *body.File) (*op.Answer, error) {
	input, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	if in == nil {
		input = nil
	}
	return v.s.Engine.Invoke(v.r.Context(), v.caller, op.Request{Operation: operation, Input: input, Upload: file,
		Hold:  v.hold,
		World: v.world, Transport: "console", Correlation: v.r.Header.Get("X-Correlation-Id"),
		IdempotencyKey: v.onceFor(in)})
}

// onceFor returns the key of a form that takes effect once. A dry run takes none.
func (v *visit) onceFor(in any) string {
	if f, ok := in.(fields); ok && f["dry_run"] == true {
		return ""
	}
	return v.r.PostFormValue("once")
}

// fields is the input of an operation by name. Empty strings are left out.
type fields map[string]any

func (f fields) with(name, value string) fields {
	if value != "" {
		f[name] = value
	}
	return f
}

// showError shows an error as a page.
func (v *visit) showError(err error) {
	var p *proposedError
	if errors.As(err, &p) {
		v.write(http.StatusAccepted, proposedPage(v.frame("Proposed"), *p))
		return
	}
	kind := fault.KindOf(err)
	if kind == fault.Internal {
		v.s.Logger.ErrorContext(v.r.Context(), "a page failed", "path", v.r.Pattern, "error", err)
	}
	status := kind.HTTPStatus()
	e := fault.Show(err, v.r.Header.Get("X-Correlation-Id"))
	v.write(status, errorPage(v.frame("That did not work"), status, e.Error.Message, e.Error.ValidationErrors))
}
