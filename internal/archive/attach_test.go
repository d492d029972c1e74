package archive

import (
	"bytes"
	"context"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/body"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/op/optest"
)

const gif = "GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x00;"

func file(data string) string { return base64.StdEncoding.EncodeToString([]byte(data)) }

func TestFilesAreAttached(t *testing.T) {
	s := newDesk(t)
	got := s.Do("user", "upload_attachment", `{"name": "Quay+map", "filename": "../../etc/map.gif", "data": "`+
		file(gif)+`"}`).
		Want("type", "Image").Want("media_type", "image/gif").Want("size", len(gif)).Want("version", 1)
	if got.Reply.Location != "/api/mcp/cards/Quay+map/file" {
		t.Errorf("location %q", got.Reply.Location)
	}
	if name := got.Text("file_name"); strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") {
		t.Errorf("file name %q", name)
	}
	s.As("user").Call("get_attachment", `{"name": "Quay+map"}`).Want("content_base64", file(gif)).Want("sha256",
		got.Text("sha256")).Want("media_type", "image/gif")
	s.As("user").Call("get_card", `{"name": "Quay+map"}`).Want("content", "")
	// The media type is detected from the bytes, not from the file name. A second upload replaces
	// the file.
	s.Do("user", "upload_attachment", `{"name": "Quay+map", "filename": "map.gif", "data": "`+
		file("<script>x</script>")+`"}`).
		Want("type", "File").Want("version", 2).Has("text/html")
	down, err := s.As("user").invoke("get_attachment", `{"name": "Quay+map"}`, overREST)
	if err != nil || string(down.Reply.File.Data) != "<script>x</script>" {
		t.Errorf("%v %+v", err, down)
	}
	s.Do("user", "upload_attachment", `{"name": "Raw"}`,
		func(r *op.Request) { r.Upload = body.Bytes([]byte("plain text")) }).Want("type", "File").Want("size", 10)
	s.wantRebuilt()
}

func TestFilesThatAreRefused(t *testing.T) {
	s := newDesk(t)
	s.wrote("Quay", "text")
	s.hid(access.LevelGM, "Vault", "gold")
	before := s.commits()
	s.As("user").wantFields(fault.Rule, "upload_attachment", `{"name": "Quay", "data": "YQ=="}`, "name")
	s.As("user").wantFields(fault.Invalid, "upload_attachment", `{"name": "New", "data": ""}`, "data")
	s.As("user").wantFields(fault.Invalid, "upload_attachment", `{"name": "New", "data": "%%"}`, "data")
	s.As("user").wantFields(fault.Invalid, "upload_attachment", `{"name": "New", "type": "Image", "data": "YQ=="}`, "type")
	s.As("user").wantFields(fault.Invalid, "upload_attachment", `{"name": "a/b", "data": "YQ=="}`, "name")
	s.As("user").WantNotFound("upload_attachment", `{"name": "~`+s.idOf("Vault")+`", "data": "YQ=="}`)
	big := func(r *op.Request) { r.Upload = body.Bytes(bytes.Repeat([]byte{1}, canon.MaxFile+1)) }
	if f := s.As("user").asked("upload_attachment", `{"name": "Big"}`, big); f.Kind != fault.TooLarge {
		t.Errorf("too large a file: %v", f)
	}
	if s.commits() != before {
		t.Error("something was committed")
	}
	// the hidden card does not block its name
	s.Do("user", "upload_attachment", `{"name": "Vault", "data": "YQ=="}`).Want("version", 1)
	s.As("gm").Call("get_card", `{"name": "~`+s.idOf("Vault")+`"}`)
	if o, _ := s.ops.Find("upload_attachment"); o.BodyLimit != 25<<20 {
		t.Errorf("limit %d", o.BodyLimit)
	}
}

// bodyCounter counts the contents that are read from a store.
type bodyCounter struct {
	canon.Store
	read *int
}

func (b bodyCounter) Read(ctx context.Context, f func(canon.Reader) error) error {
	return b.Store.Read(ctx, func(r canon.Reader) error { return f(countedReader{r, b.read}) })
}

type countedReader struct {
	canon.Reader
	read *int
}

func (r countedReader) Body(ctx context.Context, w access.WorldID, h canon.Hash) ([]byte, bool, error) {
	*r.read++
	return r.Reader.Body(ctx, w, h)
}

// serveFrom serves a store with a surface that has measured nothing yet.
func (d *desk) serveFrom(store canon.Store) {
	d.t.Helper()
	c := canon.New(canon.Config{Store: store, Now: func() time.Time { return d.now }})
	surface, err := New(Config{Canon: c, Jobs: d.jobs, Backup: d.disk, Data: d.data})
	if err != nil {
		d.t.Fatal(err)
	}
	if d.ops, err = op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}), Surfaces: []op.Surface{surface},
		Worlds: optest.SoleWorld(d.world)}); err != nil {
		d.t.Fatal(err)
	}
}

// TestAPictureIsMeasuredOnce asks for the size of pictures that were uploaded, and of one that the process has not
// seen, and counts how often their bytes are read.
func TestAPictureIsMeasuredOnce(t *testing.T) {
	s := newDesk(t)
	read := 0
	counted := bodyCounter{s.store, &read}
	s.serveFrom(counted)
	s.Do("user", "upload_attachment", `{"name": "Chart", "data": "`+file(gif)+`"}`).Want("width", 1).Want("height", 1)
	read = 0
	s.As("user").Call("get_file_url", `{"name": "Chart"}`, overREST).Want("width", 1)
	if read != 0 {
		t.Errorf("the bytes of an uploaded picture were read %d times", read)
	}
	s.serveFrom(counted)
	for range 3 {
		s.As("user").Call("get_file_url", `{"name": "Chart"}`, overREST).Want("height", 1)
	}
	if read != 1 {
		t.Errorf("the bytes of a picture were read %d times", read)
	}
}

func TestPicturesAreMeasured(t *testing.T) {
	for data, want := range map[string]pictureSize{
		`<svg viewBox="0 0 960 540" width="12" height="9"/>`:                        {960, 540},
		`<?xml version="1.0"?><!-- x --><svg width="30px" height="20"></svg>`:       {30, 20},
		`<svg width="100%" height="20"/>`:                                           {0, 20},
		`<svg viewBox="0 0 -1 x"/>`:                                                 {},
		"GIF89a\x02\x00\x03\x00\x00\x00\x00;":                                       {2, 3},
		"<!--" + strings.Repeat("x", maxSVGHead) + `--><svg width="3" height="2"/>`: {},
		"no picture": {}, "": {}, `<svg width="3"`: {},
	} {
		if got := measurePicture([]byte(data)); got != want {
			t.Errorf("%.80q: %v, want %v", data, got, want)
		}
	}
}
