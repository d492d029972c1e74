// Package op declares operations, resources, prompts and completions once, and invokes
// them. The MCP tool, the REST route, the command-line call, the schemas and the
// reference pages are all made from the declaration.
//
// Its invariant: every call from every transport enters by Invoker, where the Guard
// admits it once. What an operation does is its surface's matter; how a call travels is
// the transport's.
package op

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/access"
)

// Spec is the declaration of an operation: everything about it but its types and code.
type Spec struct {
	Name       string   // snake_case; also the MCP tool's name
	Title      string   // a few words for people
	Doc        string   // first sentence says when to use it; the rest, how
	Surfaces   []string // surfaces that offer it; the first is its home
	Version    string   // "" is "1"
	Deprecated string   // what to use instead; "" while current

	Effect     access.Effect
	MinRole    access.Role  // RoleNone: any authenticated caller
	Operator   bool         // the instance's operator only
	Approver   bool         // shown only to keys that may approve; the handler refuses others
	Class      access.Class // "" is ClassCall
	Idempotent bool         // Effect is Write, but repeating it changes nothing more

	Route     string        // "GET /api/mcp/cards/{name}"; "" where it has none
	Older     []OlderRoute  // further routes, of older clients
	Status    int           // on success; 0 is 200
	NoTool    bool          // not offered over MCP
	NoWorld   bool          // acts on the instance, not in a world
	Unwrap    string        // the output's first field, which REST and MCP's text show alone; "" shows the output
	RESTBody  RESTBody      // whether REST answers with a file
	Audience  string        // "play": open to tokens that players and seats hold, besides keys; "" is keys alone
	Target    string        // input field whose value names what is acted on; "" for none
	BodyLimit int64         // bytes of request body; 0 is the default
	Timeout   time.Duration // of the handler; 0 is 5 s for reads and none for the rest
	// Kept: the answer follows from the input, the caller and the canon of the world alone,
	// not from the time, chance or other state, and may be given again while what it was
	// read from stands.
	Kept bool

	// Interactive: the handler may report progress or ask the person behind the call. No
	// other handler is heard or can ask, so that a transport may answer it in one piece.
	Interactive bool

	Examples []Example
	Meta     map[string]any // further _meta of the tool
}

// OlderRoute is an address by which older clients of the card wiki reach an operation.
type OlderRoute struct {
	Route string // as Spec.Route
	Input string // JSON object: input fields that the address stands for; "" for none
}

// PlainJSON is the media type by which a caller of REST asks for an operation's output
// alone, without what is added for older clients.
const PlainJSON = "application/vnd.loregate+json"

// Older is an output that REST also gives under the names that older clients of the card
// wiki read.
type Older interface {
	// Older gives an object whose members REST adds to the output's, or puts in the place
	// of those of the same name.
	Older() any
}

// Example is a call as it would be sent, shown in the reference and run by the tests.
type Example struct {
	Title string
	Input string // JSON object
}

// Operation is a declared operation, made by Define. In and Out describe what the
// handler takes and gives; InputSchema and OutputSchema, what a caller is shown.
type Operation struct {
	Spec
	In, Out *jsonschema.Schema

	handle   func(ctx context.Context, c *Call, input, upload []byte) (any, error)
	shape    *shape
	shownIn  *jsonschema.Schema
	shownOut *jsonschema.Schema
	upload   string            // input field that a raw body fills; "" for none
	rest     string            // input field that takes unknown query parameters; "" for none
	aliases  map[string]string // further names of input fields
	loose    bool              // the handler judges the input itself
}

// Call is an admitted call as a handler gets it.
type Call struct {
	Grant access.Grant
	// Reply is what the handler tells the transport beside its output.
	Reply Reply
	// Progress reports how far long work is, where the operation is Interactive. Never nil.
	Progress func(done, total float64, message string)
	// Asker asks the person behind the call; nil where nobody can be. See Ask.
	Asker Asker
	// Transport is "rest", "mcp" or "cli".
	Transport string
	// BaseURL is where the caller reached the server, without a trailing slash; "" on stdio.
	BaseURL string
}

// FromAgent reports whether the call came over MCP from a program's key. Such a caller
// decides by what it was shown, which may have been a part.
func (c *Call) FromAgent() bool {
	return c.OverMCP() && c.Grant.Caller().Actor != access.Person
}

// OverMCP reports whether the answer goes to a client of MCP, which is shown parts.
func (c *Call) OverMCP() bool { return c.Transport == "mcp" }

// RESTBody is what REST answers with in place of JSON: the file of Reply.File.
type RESTBody uint8

// The ways of answering.
const (
	RESTJSON   RESTBody = iota
	RESTEither          // JSON, or the file where it is asked for
	RESTFile            // the file
)

// Reply is what travels in headers and status beside an output.
type Reply struct {
	Status      int            // 0 is the Spec's
	ETag        string         // without quotes
	Location    string         // path of what was created
	Replayed    bool           // answered from an earlier use of the idempotency key
	NotModified bool           // If-None-Match held; the output is not sent over REST
	Diverted    bool           // a proposal was made of the write: the output is the Diverter's, not of the operation's Out
	File        *File          // sent by REST in place of the output
	Note        string         // shown by MCP as text in the place of an output that is null
	Images      []File         // shown by MCP beside the output
	Meta        map[string]any // goes with an MCP result as its _meta
}

// File is a download.
type File struct {
	Name string
	Type string // sniffed media type
	Data []byte
}

// Request is a call as a transport took it in.
type Request struct {
	Operation string
	Surface   string          // surface it was called on; "" is the operation's home
	Input     json.RawMessage // JSON object; nil is {}
	Upload    []byte          // fills the input's []byte field, so that a file need not travel as base64

	World          string // slug or UUID asked for; "" leaves it to the caller's key
	IdempotencyKey string
	Correlation    string
	Transport      string
	BaseURL        string
	Progress       func(done, total float64, message string)
	Asker          Asker // nil: nobody can be asked
	MaxText        int   // bytes of output above which a Cuttable output is cut; 0 never
}

// Answer is what came of a call.
type Answer struct {
	Output json.RawMessage // JSON object that validates against the operation's Out
	Older  json.RawMessage // what REST shows older clients in place of the output; nil where that is the same
	Reply  Reply
	Cut    bool  // a transport gave a part of the output, with truncated and next
	Asks   *Form // set in place of all else where the call goes on when this is answered: by calling again
}

// Shown is what the operation's output is to a reader: the output, or its Bare field. What
// stands beside that field travels in headers and in _meta.
func (o *Operation) Shown(a *Answer) json.RawMessage {
	if o.Unwrap == "" || a.Reply.Diverted || a.Cut {
		return a.Output
	}
	rest := a.Output[len(`{"`)+len(o.Unwrap)+len(`":`):]
	if len(o.Out.Properties) == 1 {
		return rest[:len(rest)-len(`}`)]
	}
	value, err := jsontext.NewDecoder(bytes.NewReader(rest)).ReadValue()
	if err != nil {
		return a.Output
	}
	return json.RawMessage(value)
}

// Invoker invokes operations: here, or on another server.
type Invoker interface {
	Invoke(ctx context.Context, c access.Caller, r Request) (*Answer, error)
}

// Cuttable is an output that can be given shorter, for readers that take only so much.
type Cuttable interface {
	// Cut returns the output shortened to about budget bytes of JSON, and the input
	// fields of the call that continues where it stops. ok is false where it is short
	// enough already.
	Cut(budget int) (shorter any, next map[string]any, ok bool)
}

// Diverter takes the writes of advisory keys and makes proposals of them. The call is
// admitted with the effect access.Propose; input has been checked against the
// operation's schema, is canonical and complete with defaults, and holds an upload as
// base64.
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
	NoWorld  bool   // of the instance, not of a world
	WorldVar string // variable whose value names the world; "" for none

	// Read gives the content of one URI. Absent and hidden are both fault.NotFound.
	Read func(ctx context.Context, c *Call, vars map[string]string) (Content, error)
	// List gives a few URIs to begin at, the best first; nil for none. Templates,
	// completion and search find the rest: it never walks the canon.
	List func(ctx context.Context, c *Call) ([]Listed, error)
	// Complete gives values of a variable that begin with a text; nil for none.
	Complete func(ctx context.Context, c *Call, variable, prefix string) ([]string, error)
	// Watch tells cheaply whether content has changed; nil: it is read again to find out.
	Watch Watch
}

// Watch tells of changes without reading. It is safe for concurrent use.
type Watch interface {
	// Version is another number whenever what the readers of a URI are given has become
	// another, for all of them, and the same number while it has not. It looks nothing
	// up. ok is false for a URI that it knows nothing of.
	Version(uri string) (version uint64, ok bool)
	// Changed gives a channel that closes when any version changes after the call.
	Changed() <-chan struct{}
}

// Content is what a resource holds.
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
	// Thing identifies the card that the entry is about, "" for none. Of two entries about
	// one thing the first is shown.
	Thing string
	// Recent marks an entry that is there because its thing changed lately. Those come
	// after all others.
	Recent   bool
	Size     int64
	Modified time.Time
}

// Prompt is a declared canned prompt.
type Prompt struct {
	Name     string
	Title    string
	Doc      string
	Surfaces []string
	MinRole  access.Role
	NoWorld  bool // of the instance, not of a world
	Args     []PromptArg
	// Render gives the text of the user's message.
	Render func(ctx context.Context, c *Call, args map[string]string) (string, error)
	// Complete gives values of an argument that begin with a text; nil for none.
	Complete func(ctx context.Context, c *Call, arg, prefix string) ([]string, error)
}

// PromptArg is one argument of a prompt.
type PromptArg struct {
	Name, Doc string
	Required  bool
}

// Surface is a named set of operations, resources and prompts that a transport can
// offer by itself.
type Surface struct {
	Name       string
	Title      string
	Doc        string            // one sentence for instructions: which questions it answers
	Codes      map[string]string // what this surface calls the error codes; nil for the common words
	Operations []*Operation
	Resources  []*Resource
	Prompts    []*Prompt
	Feeds      []*Feed
}
