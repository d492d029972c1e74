// Package s3 keeps blobs in a bucket of any store that speaks the protocol of Amazon S3.
//
// Its invariant: an object with a blob's name was sent with that blob's SHA-256. What the bucket gives
// back is verified by package blob.
package s3

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"loregate/internal/blob"
	"loregate/internal/fault"
)

// Config names a bucket. The credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or
// from ~/.aws/credentials.
type Config struct {
	URL      string // s3://bucket or s3://bucket/prefix
	Endpoint string // address of the server; "" is Amazon's
	Region   string // "" asks the server
}

// Bucket is a bucket of blobs.
type Bucket struct {
	transport    *http.Transport
	scheme, host string // of the server
	bucket       string
	prefix       string                 // "" or ending with "/"
	region       atomic.Pointer[string] // nil until it is known
}

// New returns the bucket. It asks the server nothing.
func New(c Config) (*Bucket, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.RawQuery != "" || u.User != nil {
		return nil, fault.New(fault.Invalid, "files.url: write s3://bucket or s3://bucket/prefix")
	}
	if c.Endpoint == "" {
		c.Endpoint = "https://" + amazon
	}
	e, err := url.Parse(c.Endpoint)
	if err != nil || e.Scheme != "https" && e.Scheme != "http" || e.Host == "" || strings.Trim(e.Path, "/") != "" {
		return nil, fault.New(fault.Invalid, "files.endpoint: write https://host or http://host:port")
	}
	b := &Bucket{transport: newTransport(), scheme: e.Scheme, host: e.Host, bucket: u.Host}
	if prefix := strings.Trim(u.Path, "/"); prefix != "" {
		b.prefix = prefix + "/"
	}
	if c.Region != "" {
		b.region.Store(&c.Region)
	}
	return b, nil
}

// Check returns fault.Invalid if the bucket does not exist, and fault.Unavailable if the server does
// not answer or refuses the credentials.
func (b *Bucket) Check(ctx context.Context) error {
	_, err := b.do(ctx, request{method: http.MethodHead})
	switch {
	case isAbsent(err):
		return fault.New(fault.Invalid, "files.url: the bucket %s does not exist at %s://%s; create it", b.bucket,
			b.scheme, b.host)
	case err != nil:
		return explain(err)
	}
	return nil
}

// objectName returns the name of a blob's object: "prefix/ab/cdef…", as in a folder of blobs.
func (b *Bucket) objectName(sum blob.Sum) string {
	name := sum.String()
	return b.prefix + path.Join(name[:2], name[2:])
}

// explain returns the error for callers. An answer of the server other than "not found" means that
// blobs cannot be had now.
func explain(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	e := fault.New(fault.Unavailable, "files cannot be reached now; try again, and ask the operator if it lasts")
	e.RetryAfter = 5 * time.Second
	return e.Because(fmt.Errorf("s3: %w", err))
}

func isAbsent(err error) bool {
	refused, ok := errors.AsType[*refusal](err)
	return ok && refused.status == http.StatusNotFound
}

// Put stores a blob of at most 5 GiB, the limit of one request. It returns once the server has
// acknowledged it. The signature covers the blob's sum, so that the server refuses other bytes.
func (b *Bucket) Put(ctx context.Context, ref blob.Ref, r io.ReadSeeker) error {
	_, err := b.do(ctx, request{method: http.MethodPut, object: b.objectName(ref.Sum),
		header: map[string]string{"Content-Type": contentType}, body: r, size: ref.Size, sum: ref.Sum})
	if err != nil {
		return explain(err)
	}
	return nil
}

// Get returns the size and the bytes of a blob.
func (b *Bucket) Get(ctx context.Context, sum blob.Sum) (blob.Ref, io.ReadCloser, error) {
	return b.open(ctx, http.MethodGet, sum)
}

// Stat returns the size of a blob.
func (b *Bucket) Stat(ctx context.Context, sum blob.Sum) (blob.Ref, error) {
	ref, r, err := b.open(ctx, http.MethodHead, sum)
	if err == nil {
		_ = r.Close() // it is empty
	}
	return ref, err
}

func (b *Bucket) open(ctx context.Context, method string, sum blob.Sum) (blob.Ref, io.ReadCloser, error) {
	res, err := b.begin(ctx, request{method: method, object: b.objectName(sum)})
	if err == nil && res.ContentLength < 0 {
		_ = res.Body.Close()
		err = errors.New("the server does not tell the size of an object")
	}
	switch {
	case isAbsent(err):
		return blob.Ref{}, nil, blob.NewAbsent(sum)
	case err != nil:
		return blob.Ref{}, nil, explain(err)
	}
	return blob.Ref{Sum: sum, Size: res.ContentLength}, res.Body, nil
}

// Touch copies a blob's object onto itself, which sets its time. Such a copy must change something:
// here the metadata.
func (b *Bucket) Touch(ctx context.Context, sum blob.Sum) (blob.Ref, error) {
	ref, err := b.Stat(ctx, sum)
	if err != nil {
		return ref, err
	}
	name := b.objectName(sum)
	text, err := b.do(ctx, request{method: http.MethodPut, object: name, header: map[string]string{
		"Content-Type": contentType, "X-Amz-Copy-Source": escapePath("/" + b.bucket + "/" + name),
		"X-Amz-Metadata-Directive": "REPLACE", "X-Amz-Meta-Touched": time.Now().UTC().Format(time.RFC3339Nano)}})
	if err == nil {
		err = xml.Unmarshal(text, &struct {
			XMLName xml.Name `xml:"CopyObjectResult"` // a copy that fails late is an Error with status 200
		}{})
	}
	switch {
	case isAbsent(err):
		return blob.Ref{}, blob.NewAbsent(sum)
	case err != nil:
		return blob.Ref{}, explain(err)
	}
	return ref, nil
}

// page is an answer to ListObjectsV2.
type page struct {
	XMLName   xml.Name `xml:"ListBucketResult"`
	Encoding  string   `xml:"EncodingType"`
	Truncated bool     `xml:"IsTruncated"`
	Next      string   `xml:"NextContinuationToken"`
	Objects   []struct {
		Key          string
		Size         int64
		LastModified time.Time
	} `xml:"Contents"`
}

// list returns the page of objects after the one that gave the token; "" begins.
func (b *Bucket) list(ctx context.Context, token string) (page, error) {
	q := url.Values{"list-type": {"2"}, "prefix": {b.prefix}, "encoding-type": {"url"}}
	if token != "" {
		q.Set("continuation-token", token)
	}
	var p page
	text, err := b.do(ctx, request{method: http.MethodGet, query: q})
	if err == nil {
		err = xml.Unmarshal(text, &p)
	}
	if err == nil && p.Truncated && (p.Next == "" || p.Next == token) {
		err = errors.New("the server lists one page without end")
	}
	return p, err
}

// All yields the blobs below the prefix, by sum.
func (b *Bucket) All(ctx context.Context) iter.Seq2[blob.Dated, error] {
	return func(yield func(blob.Dated, error) bool) {
		for p := (page{Truncated: true}); p.Truncated; {
			var err error
			if p, err = b.list(ctx, p.Next); err != nil {
				yield(blob.Dated{}, explain(err))
				return
			}
			for _, o := range p.Objects {
				if key, err := url.QueryUnescape(o.Key); err == nil && p.Encoding == "url" {
					o.Key = key
				}
				sum, err := blob.ParseSum(strings.Replace(strings.TrimPrefix(o.Key, b.prefix), "/", "", 1))
				if err != nil {
					continue // an object of somebody else
				}
				if !yield(blob.Dated{Ref: blob.Ref{Sum: sum, Size: o.Size}, At: o.LastModified}, nil) {
					return
				}
			}
		}
	}
}

// Remove removes a blob's object.
func (b *Bucket) Remove(ctx context.Context, sum blob.Sum) error {
	_, err := b.do(ctx, request{method: http.MethodDelete, object: b.objectName(sum)})
	if err != nil && !isAbsent(err) {
		return explain(err)
	}
	return nil
}
