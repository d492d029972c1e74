package identity

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/outbound"
)

// Bounds of the documents of clients.
const (
	maxDocument        = 10 << 10 // bytes; the draft recommends 5 KiB
	maxDocumentAddress = 300      // bytes
	maxDocuments       = 256      // cached
	documentWait       = 5 * time.Second
	documentFetches    = 4 // at once
	minDocumentAge     = time.Minute
	maxDocumentAge     = 24 * time.Hour
	usualDocumentAge   = time.Hour
)

// documents finds clients by their metadata documents (draft-ietf-oauth-client-id-metadata-document): the id
// of such a client is the address of a JSON document with its name and redirect addresses. Sound documents are
// cached for as long as their host allows, within bounds.
type documents struct {
	client  *outbound.Client // nil: no document is fetched
	limiter access.Limiter   // counts fetches by person; nil counts nothing
	now     func() time.Time
	running chan struct{} // holds one element for each running fetch

	mu    sync.Mutex
	known map[string]cachedDocument // guarded by mu
}

type cachedDocument struct {
	client Client
	until  time.Time
}

func newDocuments(c Config) *documents {
	return &documents{client: c.Documents, limiter: c.Limiter, now: c.Now, known: map[string]cachedDocument{},
		running: make(chan struct{}, documentFetches)}
}

// FetchesDocuments reports whether the id of a client may be the address of a document.
func (s *Service) FetchesDocuments() bool { return s.documents.client != nil }

// findClient returns the client with a document.
func (d *documents) findClient(ctx context.Context, person access.Subject, id string) (Client, error) {
	if d.client == nil {
		return Client{}, errNoClient
	}
	u, err := parseDocumentAddress(id)
	if err != nil {
		return Client{}, err
	}
	now := d.now()
	if c, ok := d.cached(id, now); ok {
		return c, nil
	}
	a, err := d.fetchDocument(ctx, person, u)
	if err != nil {
		return Client{}, err
	}
	c, err := readDocument(a, id)
	if err != nil {
		return Client{}, err
	}
	c.Document = u.Host
	d.cache(id, cachedDocument{c, now.Add(documentAge(a.Header))}, now)
	return c, nil
}

func (d *documents) cached(id string, now time.Time) (Client, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, ok := d.known[id]
	return c.client, ok && now.Before(c.until)
}

func (d *documents) cache(id string, c cachedDocument, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for other, known := range d.known {
		if !now.Before(known.until) || len(d.known) >= maxDocuments {
			delete(d.known, other)
		}
	}
	d.known[id] = c
}

// fetchDocument fetches a document. A person can cause few fetches a minute.
func (d *documents) fetchDocument(
	ctx context.Context,
	person access.Subject,
	u *url.URL,
) (a outbound.Answer, err error) {
	if err := access.CountAttempt(d.limiter, "document:"+string(person)); err != nil {
		return a, err
	}
	ctx, cancel := context.WithTimeout(ctx, documentWait)
	defer cancel()
	select {
	case d.running <- struct{}{}:
		defer func() { <-d.running }()
	case <-ctx.Done():
		return a, newDocumentError("too many documents are fetched at once; try again").Because(ctx.Err())
	}
	a, err = d.client.Get(ctx, u, maxDocument)
	if status := outbound.StatusError(0); errors.As(err, &status) {
		return a, newDocumentError("its host answers %d; redirects are not followed", int(status))
	}
	switch {
	case errors.Is(err, outbound.ErrTooLarge):
		return a, newDocumentError("it is larger than 10 KiB")
	case err != nil:
		return a, newDocumentError("its host did not answer within five seconds, or its address is not public").Because(err)
	}
	return a, nil
}

// newDocumentError returns the error for a document that is not accepted.
func newDocumentError(format string, args ...any) *fault.Error {
	return fault.BrokenRule("client_id", "the client's document is not accepted: "+format, args...)
}

// parseDocumentAddress reads the id of a client with a document (section 3 of the draft). It is compared as
// text, so only one spelling is accepted, whose host cannot look like another.
func parseDocumentAddress(id string) (*url.URL, error) {
	u, err := outbound.ParseAddress(id)
	if err != nil || len(id) > maxDocumentAddress || u.Port() != "" || u.RawQuery != "" || u.ForceQuery ||
		strings.Contains(id, "#") || u.Path == "" || u.Path == "/" || path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/") ||
		u.String() != id || u.Host != strings.ToLower(u.Host) || !isASCII(id) {
		return nil, newDocumentError(
			"its address must be https, with a path and without a port, a query, a fragment or dots as steps")
	}
	return u, nil
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// readDocument reads the metadata of a client (RFC 7591, section 2). Clients with a document are public too.
func readDocument(a outbound.Answer, id string) (c Client, err error) {
	kind, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if err != nil ||
		kind != "application/json" && !(strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")) {
		return c, newDocumentError("it is not application/json")
	}
	var said struct {
		ID        string   `json:"client_id"`
		Name      string   `json:"client_name"`
		Redirects []string `json:"redirect_uris"`
		Method    string   `json:"token_endpoint_auth_method"`
		Secret    string   `json:"client_secret"`
	}
	switch err := json.Unmarshal(a.Body, &said); {
	case err != nil:
		return c, newDocumentError("it is not a JSON object with client_id, client_name and redirect_uris")
	case said.ID != id:
		return c, newDocumentError("its client_id is not its address")
	case said.Method != "" && said.Method != "none" || said.Secret != "":
		return c, newDocumentError("its token_endpoint_auth_method must be none, without a client_secret")
	}
	c = Client{Name: said.Name, Redirects: said.Redirects}
	if err := c.checkFields(); err != nil {
		return c, newDocumentError("%s", fault.Show(err, "").Error.Message)
	}
	return c, nil
}

// documentAge returns the time for which a document may be cached (RFC 9111, section 5.2.2).
func documentAge(h http.Header) time.Duration {
	age := usualDocumentAge
	for directive := range strings.SplitSeq(h.Get("Cache-Control"), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
		switch name {
		case "no-store", "no-cache":
			return minDocumentAge
		case "max-age":
			if n, err := strconv.Atoi(strings.Trim(value, `"`)); err == nil {
				age = min(time.Duration(min(n, int(maxDocumentAge/time.Second)))*time.Second, maxDocumentAge)
			}
		}
	}
	return max(age, minDocumentAge)
}
