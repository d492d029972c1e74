package archive

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
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
		func(r *op.Request) { r.Upload = []byte("plain text") }).Want("type", "File").Want("size", 10)
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
	big := func(r *op.Request) { r.Upload = bytes.Repeat([]byte{1}, canon.MaxFile+1) }
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
