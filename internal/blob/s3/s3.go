// Package s3 keeps blobs in a bucket of any store that speaks the protocol of Amazon S3.
//
// Its invariant: an object with a blob's name was sent with that blob's SHA-256. What the bucket gives
// back is verified by package blob.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

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
	client *minio.Client
	bucket string
	prefix string // "" or ending with "/"
}

const amazon = "https://s3.amazonaws.com"

// Limits of requests. A request is repeated by minio-go, up to attempts times.
const (
	attempts    = 4
	answerLimit = time.Minute // until the server begins to answer
	partSize    = 16 << 20    // larger blobs are sent in parts, and each is repeated by itself
)

// New returns the bucket. It asks the server nothing.
func New(c Config) (*Bucket, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.RawQuery != "" || u.User != nil {
		return nil, fault.New(fault.Invalid, "files.url: write s3://bucket or s3://bucket/prefix")
	}
	if c.Endpoint == "" {
		c.Endpoint = amazon
	}
	e, err := url.Parse(c.Endpoint)
	if err != nil || e.Scheme != "https" && e.Scheme != "http" || e.Host == "" || strings.Trim(e.Path, "/") != "" {
		return nil, fault.New(fault.Invalid, "files.endpoint: write https://host or http://host:port")
	}
	transport, err := minio.DefaultTransport(e.Scheme == "https")
	if err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	transport.ResponseHeaderTimeout = answerLimit
	b := &Bucket{bucket: u.Host}
	if prefix := strings.Trim(u.Path, "/"); prefix != "" {
		b.prefix = prefix + "/"
	}
	b.client, err = minio.New(e.Host, &minio.Options{Secure: e.Scheme == "https", Region: c.Region,
		Transport: transport, MaxRetries: attempts,
		Creds: credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{},
			&credentials.FileAWSCredentials{}})})
	if err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	return b, nil
}

// Check returns fault.Invalid if the bucket does not exist, and fault.Unavailable if the server does
// not answer or refuses the credentials.
func (b *Bucket) Check(ctx context.Context) error {
	ok, err := b.client.BucketExists(ctx, b.bucket)
	if err != nil {
		return explain(err)
	}
	if !ok {
		return fault.New(fault.Invalid, "files.url: the bucket %s does not exist at %s; create it", b.bucket,
			b.client.EndpointURL())
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
	return err != nil && minio.ToErrorResponse(err).StatusCode == http.StatusNotFound
}

// Put stores a blob. It returns once the server has acknowledged all parts.
func (b *Bucket) Put(ctx context.Context, ref blob.Ref, r io.ReadSeeker) error {
	_, err := b.client.PutObject(ctx, b.bucket, b.objectName(ref.Sum), r, ref.Size,
		minio.PutObjectOptions{ContentType: "application/octet-stream", PartSize: partSize})
	if err != nil {
		return explain(err)
	}
	return nil
}

// Get returns the size and the bytes of a blob.
func (b *Bucket) Get(ctx context.Context, sum blob.Sum) (blob.Ref, io.ReadCloser, error) {
	var info minio.ObjectInfo
	o, err := b.client.GetObject(ctx, b.bucket, b.objectName(sum), minio.GetObjectOptions{})
	if err == nil {
		info, err = o.Stat()
	}
	switch {
	case isAbsent(err):
		return blob.Ref{}, nil, blob.NewAbsent(sum)
	case err != nil:
		return blob.Ref{}, nil, explain(err)
	}
	return blob.Ref{Sum: sum, Size: info.Size}, o, nil
}

// Stat returns the size of a blob.
func (b *Bucket) Stat(ctx context.Context, sum blob.Sum) (blob.Ref, error) {
	o, err := b.client.StatObject(ctx, b.bucket, b.objectName(sum), minio.StatObjectOptions{})
	switch {
	case isAbsent(err):
		return blob.Ref{}, blob.NewAbsent(sum)
	case err != nil:
		return blob.Ref{}, explain(err)
	}
	return blob.Ref{Sum: sum, Size: o.Size}, nil
}

// touchedHeader is the metadata that a touched object has. A copy onto itself must change something.
const touchedHeader = "Touched"

// Touch copies a blob's object onto itself, which sets its time.
func (b *Bucket) Touch(ctx context.Context, sum blob.Sum) (blob.Ref, error) {
	ref, err := b.Stat(ctx, sum)
	if err != nil {
		return ref, err
	}
	name := b.objectName(sum)
	_, err = b.client.CopyObject(ctx, minio.CopyDestOptions{Bucket: b.bucket, Object: name, ReplaceMetadata: true,
		UserMetadata: map[string]string{touchedHeader: time.Now().UTC().Format(time.RFC3339Nano)}},
		minio.CopySrcOptions{Bucket: b.bucket, Object: name})
	switch {
	case isAbsent(err):
		return blob.Ref{}, blob.NewAbsent(sum)
	case err != nil:
		return blob.Ref{}, explain(err)
	}
	return ref, nil
}

// All yields the blobs below the prefix, by sum.
func (b *Bucket) All(ctx context.Context) iter.Seq2[blob.Dated, error] {
	return func(yield func(blob.Dated, error) bool) {
		for o := range b.client.ListObjectsIter(ctx, b.bucket, minio.ListObjectsOptions{Prefix: b.prefix,
			Recursive: true}) {
			if o.Err != nil {
				yield(blob.Dated{}, explain(o.Err))
				return
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

// Remove removes a blob's object.
func (b *Bucket) Remove(ctx context.Context, sum blob.Sum) error {
	err := b.client.RemoveObject(ctx, b.bucket, b.objectName(sum), minio.RemoveObjectOptions{})
	if err != nil && !isAbsent(err) {
		return explain(err)
	}
	return nil
}
