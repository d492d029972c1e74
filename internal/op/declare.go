package op

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"loregate/internal/access"
	"loregate/internal/body"
)

// Spec is the declaration of an operation: everything except its types and code.
type Spec struct {
	Name  string // snake_case; also the MCP tool's name
	Title string // a few words for people
	Doc   string // the first sentence tells when to use it; the rest, how
	// Asked are phrases in which people ask for it, in words that name, title and Doc do not have.
	// find_operation finds it by them; no list shows them.
	Asked    []string
	Surfaces []string // surfaces that offer it; the first is its home
	Version  string   // "" is "1"

	Effect   access.Effect
	MinRole  access.Role // RoleNone: any authenticated caller
	Operator bool        // only for the instance's operator
	People   bool        // only for the credentials of people that may write: it is never turned into a proposal
	Approver bool        // listed only for keys that may approve; the handler refuses others
	// Manages: MinRole is admin, and game masters may call it too in worlds where they manage cards; see Config.GMManages.
	Manages bool
	// Plays: an act of play, which a member who may otherwise only propose makes at once.
	Plays  bool
	Seated bool // exists over MCP only for credentials bound to a seat of a game
	// ListRole is the lowest role with which the handler does anything but refuse. Callers below it
	// can call the operation and are not shown it. RoleNone: MinRole.
	ListRole   access.Role
	Class      access.Class // "" is ClassCall
	Idempotent bool         // Effect is Write, but repeating it changes nothing more

	Route     string        // "GET /api/mcp/cards/{name}"; "" for no route
	Older     []OlderRoute  // further routes, for older clients
	Status    int           // on success; 0 is 200
	NoTool    bool          // not offered over MCP
	ByDoor    bool          // with NoTool: the doors of the default set call it over MCP all the same
	Unlisted  bool          // can be called over MCP, and is in no list of tools
	NeedsList bool          // listed only in sessions whose list of tools can grow; see Call.KeepsList
	AliasOf   string        // operation that this one is another name of; listed only where its surface is listed alone
	NoWorld   bool          // acts on the instance, not in a world
	Unwrap    string        // the output's first field, which REST and MCP's text show alone; "" shows the whole output
	RESTBody  RESTBody      // whether REST answers with a file
	Audience  string        // "play": also accepts the tokens of players and seats; "" accepts API keys only
	Target    string        // input field that names the target of the call; "" for none
	Player    string        // input field that names a player, by whose limits a call by id is bounded; "" for none
	BodyLimit int64         // bytes of request body; 0 is the default
	LoadsFile bool          // the handler loads a whole file; such calls take turns, see body.Hold.BeginLoad
	Spooled   bool          // the handler reads an uploaded file from Call.Upload; the input's []byte field is then empty
	Timeout   time.Duration // of the handler; 0 is 5 s for reads and none for other effects
	// Cacheable: the answer depends only on the input, the caller and the world's canon, not on the
	// time, chance or other state. It may be cached until the cards it was read from change.
	Cacheable bool

	// Brief has the words by which lists of tools describe an object among the input fields, in place of its schema.
	// InputSchema, REST and the docs have the whole one.
	Brief func() map[string]string

	// Delegates: the handler changes nothing itself. It calls other operations, each of which is
	// admitted, diverted and recorded by itself; see Call.PartOf.
	Delegates bool
	// Waits: most of the handler's time is that of a model, a program or another person. It does not count as work.
	Waits bool
	// TextOnly: MCP shows the output as compact text, without structured content.
	TextOnly bool
	// Envelope names the input fields that belong to the envelope of a call and not to its subject.
	// Short lists of tools leave them out.
	Envelope []string
	// Destroys reports whether an input of an operation with the effect Destroy removes or overwrites
	// anything; nil: every input but a dry run does.
	Destroys func(input json.RawMessage) bool

	// Interactive: the handler may report progress or ask the person behind the call. Other
	// handlers can do neither, so a transport may answer them in one piece.
	Interactive bool

	Examples []Example
	Meta     map[string]any // further _meta of the tool
}

// OlderRoute is an address through which older clients of the card wiki reach an operation.
type OlderRoute struct {
	Route string // as Spec.Route
	Input string // JSON object: input fields that the address implies; "" for none
}

// PlainJSON is the media type with which a REST caller asks for the operation's output alone,
// without the members added for older clients.
const PlainJSON = "application/vnd.loregate+json"

// Older is an output that REST also sends under the member names that older clients of the card
// wiki read.
type Older interface {
	// Older returns an object. REST adds its members to the output's; a member of the same name
	// replaces the output's.
	Older() any
}

// Example is a call as it would be sent, shown in the reference and run by the tests.
type Example struct {
	Title string
	Input string // JSON object
}

// Operation is a declared operation, made by Define. In and Out describe the handler's input and
// output; InputSchema and OutputSchema are the schemas shown to callers.
type Operation struct {
	Spec

	input  func() *inputForm
	output func() *outputForm
	handle func(ctx context.Context, c *Call, input, upload []byte) (any, error)
	loose  bool // the handler checks the input itself
}

// Call is an admitted call as passed to a handler.
type Call struct {
	Grant access.Grant
	// Reply is set by the handler and travels beside the output.
	Reply Reply
	// Progress reports progress to the client if the operation is Interactive. Never nil.
	Progress func(done, total float64, message string)
	// Asker asks the person behind the call; nil if nobody can be asked. See Ask.
	Asker Asker
	// Transport is "rest", "mcp", "console" or "cli".
	Transport string
	// BaseURL is the address at which the caller reached the server, without a trailing slash; ""
	// on stdio.
	BaseURL string
	// KeepsList reports whether the caller's session has a list of tools to which Reply.Opens adds.
	KeepsList bool
	// MaxText is the number of bytes of output above which the output is cut; 0: never.
	MaxText int
	// Upload is the file that came beside the input of an operation with Spooled; nil for none.
	Upload *body.File
	// Hold counts the call's bytes in memory and on disk. A handler reserves the bytes of a large file before it loads
	// them. Nil counts nothing.
	Hold *body.Hold
}

// PartOf returns a request for another operation as a part of this call: in the same world, with
// the same idempotency key, and as a dry run if the call is one. The call was counted already, so
// only a write of the part counts again.
func (c *Call) PartOf(operation string, input json.RawMessage) Request {
	g := c.Grant.Request()
	r := Request{Operation: operation, Input: input, Correlation: g.Correlation, Transport: c.Transport,
		BaseURL: c.BaseURL, IdempotencyKey: g.IdempotencyKey, Progress: c.Progress, Asker: c.Asker, Hold: c.Hold,
		whole: c.Grant}
	if !g.World.IsZero() {
		r.World = g.World.String()
	}
	return r
}

// FromAgent reports whether the call came over MCP from a program's key. Such a caller acts on the
// text it was shown, which may have been cut.
func (c *Call) FromAgent() bool {
	return c.OverMCP() && c.Grant.Caller().Actor != access.Person
}

// OverMCP reports whether the answer goes to an MCP client, whose answers may be cut.
func (c *Call) OverMCP() bool { return c.Transport == "mcp" }

// SendsFile reports whether the caller gets Reply.File in place of the output.
func (c *Call) SendsFile() bool { return c.Transport == "rest" || c.Transport == "console" }

// RESTBody selects whether REST answers with JSON or with the file of Reply.File.
type RESTBody uint8

// The values of RESTBody.
const (
	RESTJSON   RESTBody = iota
	RESTEither          // JSON, or the file if the request asks for it
	RESTFile            // the file
)

// Reply holds the headers, status and other data sent beside an output.
type Reply struct {
	Status   int            // 0 is the Spec's
	ETag     string         // without quotes
	Location string         // path of the created object
	Replayed bool           // answered from an earlier use of the idempotency key
	Diverted bool           // the write became a proposal: the output is the Diverter's, not of the operation's Out
	File     *File          // sent by REST in place of the output
	Note     string         // text that MCP shows in place of a null output
	Images   []File         // shown by MCP beside the output
	Meta     map[string]any // goes with an MCP result as its _meta
	Opens    string         // surface whose tools the session's list shows from now on; "" for none
}

// File is a file to download. Its bytes are in Data, or in Body if that is set.
type File struct {
	Name string
	Type string // sniffed media type
	Data []byte
	Body *body.File // belongs to the Hold of the call
}

// Open returns a reader of the file's bytes.
func (f *File) Open() io.ReadSeeker {
	if f.Body != nil {
		return f.Body.Open()
	}
	return bytes.NewReader(f.Data)
}

// Keep returns a reader of the file's bytes for a client that may read them slowly, and drops bytes in memory that go to
// disk; see body.Hold.KeepAnswer.
func (f *File) Keep(ctx context.Context, h *body.Hold) (_ io.ReadSeeker, err error) {
	if f.Body == nil {
		f.Body, err = h.KeepAnswer(ctx, f.Data)
		f.Data = nil
	}
	h.ReleaseMemory()
	if err != nil {
		return nil, err
	}
	return f.Body.Open(), nil
}

// Request is a call as received by a transport.
type Request struct {
	Operation string
	Surface   string          // surface it was called on; "" is the operation's home
	Input     json.RawMessage // JSON object; nil is {}
	Upload    *body.File      // fills the input's []byte field, so a file need not be sent as base64
	Hold      *body.Hold      // counts the call's bytes in memory and on disk; nil counts nothing

	World          string // slug or UUID from the request; "" leaves it to the caller's key
	IdempotencyKey string
	Correlation    string
	Transport      string
	BaseURL        string
	Progress       func(done, total float64, message string)
	Asker          Asker           // nil: nobody can be asked
	MaxText        int             // bytes of output above which a Cuttable output is cut; 0: never
	KeepsList      bool            // see Call.KeepsList
	Provenance     json.RawMessage // fills the input's field provenance if the operation has one; nil for none

	whole access.Grant // of the call that this one is a part of; see Call.PartOf
	sole  string       // id of the caller's only world, for an input that leaves its campaign out
}

// Answer is the result of a call.
type Answer struct {
	Output json.RawMessage // JSON object that validates against the operation's Out
	Older  json.RawMessage // JSON that REST sends to older clients in place of the output; nil if it is the same
	Reply  Reply
	Cut    bool  // a transport shortened the output, adding truncated and next
	Asks   *Form // set in place of all other fields if the handler asks a question: the client answers it by calling again
}

// Shown returns the output as shown to a reader: the whole output, or only its Unwrap field. The
// other fields then travel in headers and in _meta.
func (o *Operation) Shown(a *Answer) json.RawMessage {
	if o.Unwrap == "" || a.Reply.Diverted || a.Cut {
		return a.Output
	}
	rest := a.Output[len(`{"`)+len(o.Unwrap)+len(`":`):]
	if len(o.Out().Properties) == 1 {
		return rest[:len(rest)-len(`}`)]
	}
	value, err := jsontext.NewDecoder(bytes.NewReader(rest)).ReadValue()
	if err != nil {
		return a.Output
	}
	return json.RawMessage(value)
}

// Invoker invokes operations in this process or on another server.
type Invoker interface {
	Invoke(ctx context.Context, c access.Caller, r Request) (*Answer, error)
}

// Cuttable is an output that can be shortened for readers with a size limit.
type Cuttable interface {
	// Cut returns the output shortened to about budget bytes of JSON, and the input fields of the
	// call that continues after the cut. ok is false if the output already fits.
	Cut(budget int) (shorter any, next map[string]any, ok bool)
}

// Diverter turns the writes of advisory keys into proposals. The call is admitted with the effect
// access.Propose. input has been checked against the operation's schema; it is canonical, has all
// defaults filled in, and holds an upload as base64.
type Diverter interface {
	Divert(ctx context.Context, c *Call, o *Operation, input json.RawMessage) (*Answer, error)
}

// Resource is a declared resource or resource template.
type Resource struct {
	Template string // URI, with {name} variables: "archive://card/{name}"
	Name     string
	Title    string
	Doc      string
	MIME     string
	Surfaces []string
	MinRole  access.Role
	NoWorld  bool   // belongs to the instance, not to a world
	WorldVar string // variable whose value names the world; "" for none

	// Read returns the content of one URI. Absent and hidden are both fault.NotFound.
	Read func(ctx context.Context, c *Call, vars map[string]string) (Content, error)
	// List returns a few URIs as starting points, the best first; nil lists none. It never walks
	// the canon: the rest is found through templates, completion and search.
	List func(ctx context.Context, c *Call) ([]Listed, error)
	// Complete returns values of a variable that begin with prefix; nil if there is no completion.
	Complete func(ctx context.Context, c *Call, variable, prefix string) ([]string, error)
	// Watch tells cheaply whether content has changed; if nil, the resource is read again to
	// compare.
	Watch Watch
}

// Watch reports changes without reading content. It is safe for concurrent use.
type Watch interface {
	// Version returns a number that changes whenever the content behind uri changes for any reader,
	// and only then. It does no I/O. ok is false if the URI is unknown.
	Version(uri string) (version uint64, ok bool)
	// Changed returns a channel that closes when any version changes after the call.
	Changed() <-chan struct{}
}

// Content is the content of a resource.
type Content struct {
	MIME     string // "" is the Resource's
	Text     string
	Blob     []byte // set instead of Text
	Modified time.Time
}

// Listed is one entry of a resource listing.
type Listed struct {
	URI, Name, Title string
	MIME             string // "" is the Resource's
	// Thing identifies the card that the entry is about; "" for none. Of two entries about the same
	// card only the first is shown.
	Thing string
	// Recent marks an entry listed only because its card changed lately. Such entries come after
	// all others.
	Recent   bool
	Size     int64
	Modified time.Time
}

// Prompt is a declared prompt template.
type Prompt struct {
	Name     string
	Title    string
	Doc      string
	Surfaces []string
	MinRole  access.Role
	NoWorld  bool // belongs to the instance, not to a world
	Args     []PromptArg
	// Render returns the text of the user's message.
	Render func(ctx context.Context, c *Call, args map[string]string) (string, error)
	// Complete returns values of an argument that begin with prefix; nil if there is no completion.
	Complete func(ctx context.Context, c *Call, arg, prefix string) ([]string, error)
}

// PromptArg is one argument of a prompt.
type PromptArg struct {
	Name, Doc string
	Required  bool
}

// Surface is a named set of operations, resources and prompts that a transport can offer on its
// own.
type Surface struct {
	Name       string
	Title      string
	Doc        string            // one sentence for the instructions: the questions it answers
	Codes      map[string]string // error codes that this surface uses in place of the common ones; nil for none
	Operations []*Operation
	Resources  []*Resource
	Prompts    []*Prompt
	Feeds      []*Feed
}
