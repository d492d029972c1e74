package s3

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"loregate/internal/blob"
	"loregate/internal/wait"
)

// Limits of requests.
const (
	attempts    = 4
	pause       = 200 * time.Millisecond // before the second attempt; doubled before each later one
	answerLimit = time.Minute            // until the server begins to answer, and for an answer that is not a blob
	errorSize   = 64 << 10
	answerSize  = 16 << 20 // a page has 1000 objects, with names of at most 1024 bytes, each escaped as three
)

const (
	amazon        = "s3.amazonaws.com"
	defaultRegion = "us-east-1"
	contentType   = "application/octet-stream"
)

func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = answerLimit
	t.DisableCompression = true // the size of an answer is the size of its object
	t.MaxIdleConnsPerHost = 16
	return t
}

// request is a request about an object, or about the bucket if object is "".
type request struct {
	method, object string
	query          url.Values
	header         map[string]string
	body           io.ReadSeeker // nil without one
	size           int64         // of the body
	sum            blob.Sum      // of the body
}

// refusal is an answer that is not a success.
type refusal struct {
	method string
	status int
	Code   string // such as NoSuchKey
	Region string // the bucket's, if the server tells it
}

// Error leaves out the server's message, which may quote the request.
func (r *refusal) Error() string {
	return fmt.Sprintf("%s is answered with %d %s", r.method, r.status, cmp.Or(r.Code, http.StatusText(r.status)))
}

// mayPass reports whether the request that had the error may succeed when it is repeated.
func mayPass(err error) bool {
	refused, ok := errors.AsType[*refusal](err)
	return !ok || slices.Contains([]int{429, 500, 502, 503, 504}, refused.status)
}

// do sends a request and returns the body of its answer.
func (b *Bucket) do(ctx context.Context, q request) ([]byte, error) {
	res, err := b.begin(ctx, q)
	if err != nil {
		return nil, err
	}
	return readAnswer(res, answerSize)
}

// begin sends a request and returns its answer, which the caller closes.
func (b *Bucket) begin(ctx context.Context, q request) (*http.Response, error) {
	region, err := b.findRegion(ctx)
	if err != nil {
		return nil, err
	}
	return b.send(ctx, region, q)
}

// findRegion returns the bucket's region: the configured one, else the one that the server names in
// an answer, and us-east-1 if it names none. Amazon and MinIO name it in a header of any answer,
// Garage in the body of an error, which HEAD does not have.
func (b *Bucket) findRegion(ctx context.Context) (string, error) {
	if known := b.region.Load(); known != nil {
		return *known, nil
	}
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		region := defaultRegion
		res, err := b.send(ctx, region, request{method: method, query: url.Values{"list-type": {"2"}, "max-keys": {"0"}}})
		switch refused, ok := errors.AsType[*refusal](err); {
		case err == nil:
			_ = res.Body.Close()
			region = cmp.Or(readWord(res.Header.Get(regionHeader)), region)
		case !ok || mayPass(err):
			return "", err
		default:
			region = refused.Region
		}
		if region != "" {
			b.region.Store(&region)
			return region, nil
		}
	}
	return defaultRegion, nil // not kept, since it was not confirmed
}

const regionHeader = "X-Amz-Bucket-Region"

// readWord returns a word that the server sent, or "" if it is something else.
func readWord(s string) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"
	if len(s) > 64 || strings.Trim(s, letters) != "" {
		return ""
	}
	return s
}

// send sends a request, and repeats it if it may pass.
func (b *Bucket) send(ctx context.Context, region string, q request) (*http.Response, error) {
	k, err := findKeys()
	if err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		res, err := b.sendOnce(ctx, k, region, q)
		if err == nil || !mayPass(err) || n == attempts-1 {
			return res, err
		}
		if !wait.For(ctx, pause<<n) {
			return nil, ctx.Err()
		}
	}
}

func (b *Bucket) sendOnce(ctx context.Context, k keys, region string, q request) (*http.Response, error) {
	r := (&http.Request{Method: q.method, URL: b.address(region, q), Header: http.Header{}}).WithContext(ctx)
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	sum := blob.SumOf(nil)
	if q.body != nil {
		if _, err := q.body.Seek(0, io.SeekStart); err != nil {
			return nil, fmt.Errorf("read a blob: %w", err)
		}
		lent := &lentBody{r: q.body}
		defer lent.Close()
		sum, r.Body, r.ContentLength = q.sum, lent, q.size
		if q.size == 0 {
			r.Body = http.NoBody
		}
	}
	k.sign(r, region, sum.String(), time.Now())
	res, err := b.transport.RoundTrip(r) // not by http.Client, which follows redirects and puts addresses into errors
	if err != nil || res.StatusCode/100 == 2 {
		return res, err
	}
	refused := &refusal{}
	text, _ := readAnswer(res, errorSize)
	_ = xml.Unmarshal(text, refused) // an answer without XML has a status only
	refused.method, refused.status, refused.Code = q.method, res.StatusCode, readWord(refused.Code)
	refused.Region = readWord(cmp.Or(res.Header.Get(regionHeader), refused.Region))
	return nil, refused
}

// address returns the address of a request. Amazon has a host for each region and bucket. Elsewhere
// the bucket is in the path, as for names with dots, which the certificates of those hosts do not
// cover: https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html.
func (b *Bucket) address(region string, q request) *url.URL {
	u := &url.URL{Scheme: b.scheme, Host: b.host, Path: "/" + b.bucket + "/" + q.object}
	if b.host == amazon {
		u.Host = "s3." + region + ".amazonaws.com"
		if strings.HasPrefix(region, "cn-") {
			u.Host += ".cn"
		}
		if !strings.Contains(b.bucket, ".") {
			u.Host, u.Path = b.bucket+"."+u.Host, "/"+q.object
		}
	}
	if q.object == "" && len(u.Path) > 1 {
		u.Path = strings.TrimSuffix(u.Path, "/")
	}
	u.RawPath, u.RawQuery = escapePath(u.Path), escapeQuery(q.query)
	return u
}

// readAnswer reads an answer to its end, to the limit, or for answerLimit, and closes it.
func readAnswer(res *http.Response, limit int64) ([]byte, error) {
	defer res.Body.Close()
	defer time.AfterFunc(answerLimit, func() { _ = res.Body.Close() }).Stop()
	return io.ReadAll(io.LimitReader(res.Body, limit))
}

// lentBody lends a blob to the transport, which may read on after the answer, until Close.
type lentBody struct {
	mu sync.Mutex
	r  io.Reader // guarded by mu; nil once it is closed
}

func (l *lentBody) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.r == nil {
		return 0, http.ErrBodyReadAfterClose
	}
	return l.r.Read(p)
}

func (l *lentBody) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.r = nil
	return nil
}
