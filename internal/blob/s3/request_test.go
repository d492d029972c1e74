package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loregate/internal/blob"
	"loregate/internal/blob/s3"
	"loregate/internal/fault"
)

// The examples of https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html.
func TestSignaturesAreThoseThatAmazonPublishes(t *testing.T) {
	empty := blob.SumOf(nil).String()
	for _, c := range []struct{ method, address, headers, sum, want string }{
		{"GET", "/test.txt", "Range: bytes=0-9", empty,
			"f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"PUT", "/test%24file.text", "Date: Fri, 24 May 2013 00:00:00 GMT|X-Amz-Storage-Class: REDUCED_REDUNDANCY",
			"44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
			"98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
		{"GET", "/?lifecycle", "", empty, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{"GET", "/?max-keys=2&prefix=J", "", empty, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	} {
		r := httptest.NewRequest(c.method, "https://examplebucket.s3.amazonaws.com"+c.address, nil)
		for line := range strings.SplitSeq(c.headers, "|") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				r.Header.Set(name, value)
			}
		}
		s3.Sign(r, "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "", "us-east-1", c.sum,
			time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
		if got := r.Header.Get("Authorization"); !strings.HasSuffix(got, "Signature="+c.want) {
			t.Errorf("%s %s: %s", c.method, c.address, got)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct{ bucket, endpoint, region, want string }{
		{"lore", "", "eu-west-1", "https://lore.s3.eu-west-1.amazonaws.com/a%20b/c%2B%24"},
		{"lore", "https://s3.amazonaws.com", "cn-north-1", "https://lore.s3.cn-north-1.amazonaws.com.cn/a%20b/c%2B%24"},
		{"lore.example", "", "eu-west-1", "https://s3.eu-west-1.amazonaws.com/lore.example/a%20b/c%2B%24"},
		{"lore", "http://localhost:9000/", "eu-west-1", "http://localhost:9000/lore/a%20b/c%2B%24"},
	} {
		b, err := s3.New(s3.Config{URL: "s3://" + c.bucket, Endpoint: c.endpoint})
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Address(c.region, "a b/c+$"); got != c.want {
			t.Errorf("%s at %q: %s, not %s", c.bucket, c.endpoint, got, c.want)
		}
	}
}

// answering returns the bucket "lore" of a server with one handler. No region is configured.
func answering(t *testing.T, h http.HandlerFunc) *s3.Bucket {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "the-id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "the-secret")
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	b, err := s3.New(s3.Config{URL: "s3://lore/files", Endpoint: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRequestsAreRepeatedIfTheyMayPass(t *testing.T) {
	whole := bytes.Repeat([]byte("whole"), 10_000)
	var failures, puts atomic.Int64
	var status atomic.Int64
	b := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut {
			return
		}
		got, err := io.ReadAll(r.Body)
		if err != nil || !bytes.Equal(got, whole) {
			t.Errorf("attempt %d has %d bytes: %v", puts.Load(), len(got), err)
		}
		if puts.Add(1) <= failures.Load() {
			w.WriteHeader(int(status.Load()))
		}
	})
	ref := blob.Ref{Sum: blob.SumOf(whole), Size: int64(len(whole))}
	for _, c := range []struct {
		status, failures, attempts int64
		want                       error
	}{{503, 2, 3, nil}, {429, 1, 2, nil}, {500, 9, 4, fault.Unavailable}, {403, 9, 1, fault.Unavailable}} {
		puts.Store(0)
		failures.Store(c.failures)
		status.Store(c.status)
		if err := b.Put(t.Context(), ref, bytes.NewReader(whole)); !errors.Is(err, c.want) || puts.Load() != c.attempts {
			t.Errorf("%d: %d attempts, %v", c.status, puts.Load(), err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	b = answering(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	if err := b.Check(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled request: %v", err)
	}
}

func TestALargeBlobIsRefusedBeforeItIsRead(t *testing.T) {
	b := answering(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusForbidden) })
	body := bytes.NewReader(random(8<<20, 1))
	if err := b.Put(t.Context(), blob.Ref{Size: body.Size()}, body); !errors.Is(err, fault.Unavailable) {
		t.Error(err)
	}
	_, _ = body.Seek(0, io.SeekStart) // with -race: nobody else reads it now
}

func TestTheServerIsAskedForTheRegion(t *testing.T) {
	named := func(w http.ResponseWriter, r *http.Request, status int) {
		w.Header().Set("X-Amz-Bucket-Region", "eu-west-3")
		w.WriteHeader(status)
	}
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		want   string
		asked  int64
	}{
		"a redirect": {func(w http.ResponseWriter, r *http.Request) { named(w, r, 301) }, "eu-west-3", 1},
		"a refusal":  {func(w http.ResponseWriter, r *http.Request) { named(w, r, 403) }, "eu-west-3", 1},
		"a success":  {func(w http.ResponseWriter, r *http.Request) { named(w, r, 200) }, "eu-west-3", 1},
		"no header":  {func(w http.ResponseWriter, r *http.Request) {}, "us-east-1", 1},
		"a body": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, "<Error><Code>AuthorizationHeaderMalformed</Code><Region>garage</Region></Error>")
		}, "garage", 2},
		"a strange header": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Amz-Bucket-Region", "evil.example/")
		}, "us-east-1", 1},
	} {
		var asked atomic.Int64
		b := answering(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("max-keys") {
				asked.Add(1)
				c.answer(w, r)
			} else if !strings.Contains(r.Header.Get("Authorization"), "/"+c.want+"/s3/") {
				t.Errorf("%s: signed with %s", name, r.Header.Get("Authorization"))
			}
		})
		for range 3 {
			if err := b.Check(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if asked.Load() != c.asked {
			t.Errorf("%s: asked %d times", name, asked.Load())
		}
	}
}

func TestAListHasPages(t *testing.T) {
	sums := []blob.Sum{blob.SumOf([]byte("a")), blob.SumOf([]byte("b"))}
	endless := false
	b := answering(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Has("max-keys") {
			return
		}
		n, next := 0, "<IsTruncated>true</IsTruncated><NextContinuationToken>a+/ b</NextContinuationToken>"
		if q.Get("continuation-token") == "a+/ b" && !endless {
			n, next = 1, ""
		}
		name := sums[n].String()
		fmt.Fprintf(w, `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><EncodingType>url</EncodingType>
			%s<Contents><Key>files%%2F%s%%2F%s</Key><Size>7</Size><LastModified>2026-05-01T10:00:00.000Z</LastModified>
			</Contents><Contents><Key>files/%%01other</Key><LastModified>2026-05-01T10:00:00Z</LastModified></Contents>
			</ListBucketResult>`, next, name[:2], name[2:])
	})
	var got []blob.Sum
	for o, err := range b.All(t.Context()) {
		if err != nil || o.Size != 7 || o.At.Month() != time.May {
			t.Errorf("%v: %v", o, err)
		}
		got = append(got, o.Sum)
	}
	if !slices.Equal(got, sums) {
		t.Errorf("%v are listed", got)
	}
	endless = true
	var last error
	for _, err := range b.All(t.Context()) {
		last = err
	}
	if !errors.Is(last, fault.Unavailable) {
		t.Errorf("a list that repeats its page: %v", last)
	}
}

func TestCredentials(t *testing.T) {
	home := t.TempDir()
	shared := filepath.Join(home, ".aws", "credentials")
	other := filepath.Join(home, "other")
	if err := os.Mkdir(filepath.Dir(shared), 0o700); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		shared: "[default]\naws_access_key_id = shared\naws_secret_access_key = s=1\n",
		other: "# ours\n[default]\naws_access_key_id=no\n[ lore ]\r\naws_access_key_id = other\r\n" +
			"aws_secret_access_key=s2\naws_session_token = t2\n[half]\naws_secret_access_key=the-half\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var id, token string
	b := answering(t, func(w http.ResponseWriter, r *http.Request) {
		_, rest, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		id, _, _ = strings.Cut(rest, "/")
		token = r.Header.Get("X-Amz-Security-Token")
	})
	for _, c := range []struct{ id, secret, token, file, profile, wantID, wantToken, lacks string }{
		{"env", "secret", "", other, "lore", "env", "", ""},
		{"env", "secret", "t0", "", "", "env", "t0", ""},
		{"", "", "", "", "", "shared", "", ""},
		{"env", "", "t0", "", "", "shared", "", ""},
		{"", "", "", other, "lore", "other", "t2", ""},
		{"", "", "", other, "half", "", "", "AWS_ACCESS_KEY_ID|the profile half in " + other},
		{"", "the-secret", "", other, "none", "", "", "AWS_ACCESS_KEY_ID|the profile none in " + other},
		{"", "", "", other + "x", "", "", "", "AWS_SECRET_ACCESS_KEY|no such file"},
	} {
		for name, value := range map[string]string{"HOME": home, "AWS_ACCESS_KEY_ID": c.id,
			"AWS_SECRET_ACCESS_KEY": c.secret, "AWS_SESSION_TOKEN": c.token, "AWS_SHARED_CREDENTIALS_FILE": c.file,
			"AWS_PROFILE": c.profile} {
			t.Setenv(name, value)
		}
		id, token = "", ""
		err := b.Check(t.Context())
		if id != c.wantID || token != c.wantToken || (err == nil) != (c.lacks == "") {
			t.Errorf("%v: %q with token %q: %v", c, id, token, err)
		}
		for part := range strings.SplitSeq(c.lacks, "|") {
			if text := cause(err); !strings.Contains(text, part) || strings.Contains(text, "the-") {
				t.Errorf("%v: %s", c, text)
			}
		}
	}
}

// cause returns the texts of an error and of all errors in it.
func cause(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		text += "\n" + cause(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			text += "\n" + cause(part)
		}
	}
	return text
}

func TestAnErrorWithoutEnd(t *testing.T) {
	b := answering(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		if r.Method == http.MethodHead {
			return // it has no body
		}
		_, err := io.WriteString(w, "<Error><Code>Odd</Code><Message>the-secret")
		for err == nil {
			_, err = io.WriteString(w, strings.Repeat("for ever ", 1000))
		}
	})
	_, err := b.Touch(t.Context(), blob.SumOf(nil))
	if !errors.Is(err, fault.Unavailable) {
		t.Error(err)
	}
	if err := b.Put(t.Context(), blob.Ref{}, strings.NewReader("")); !strings.Contains(cause(err), "400 Odd") {
		t.Error(cause(err))
	}
	for range b.All(t.Context()) {
	}
	if err := b.Check(t.Context()); err == nil || strings.Contains(cause(err), "the-") {
		t.Error(cause(err))
	}
}

func TestErrorsQuoteNoRequest(t *testing.T) {
	b := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("max-keys") {
			return
		}
		switch r.Method {
		case http.MethodHead:
			w.Header().Set("Content-Length", "5")
		case http.MethodPut: // a copy that fails after the answer began
			_, _ = io.WriteString(w, "<Error><Code>InternalError</Code><Message>"+r.Header.Get("Authorization")+"</Message></Error>")
		default:
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>No "+r.Header.Get("Authorization")+"</Code></Error>")
		}
	})
	_, touched := b.Touch(t.Context(), blob.SumOf(nil))
	var listed error
	for _, err := range b.All(t.Context()) {
		listed = err
	}
	gone := answering(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	for _, err := range []error{touched, listed, gone.Check(ctx), gone.Remove(t.Context(), blob.SumOf(nil))} {
		text := cause(err)
		if !errors.Is(err, fault.Unavailable) && !errors.Is(err, fault.Invalid) && err != nil {
			t.Error(text)
		}
		for _, part := range []string{"the-id", "the-secret", "Signature", "list-type"} {
			if strings.Contains(text, part) {
				t.Errorf("an error has %q: %s", part, text)
			}
		}
	}
	if touched == nil || listed == nil {
		t.Error("a refusal is no error")
	}
}
