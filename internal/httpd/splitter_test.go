package httpd

import (
	"bytes"
	"encoding/base64"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"loregate/internal/body"
)

// split splits a text that comes in pieces.
func split(t testing.TB, src io.Reader, limit int64) (rest string, file []byte, err error) {
	t.Helper()
	in, err := body.New(body.Config{})
	if err != nil {
		t.Fatal(err)
	}
	h := in.NewHold("ada", "")
	defer h.Release()
	w, err := h.Create(t.Context(), -1)
	if err != nil {
		t.Fatal(err)
	}
	s := &splitter{src: src, file: w, left: limit, field: "data", isFile: func(name string) bool {
		return name == "data" || name == "file_data"
	}}
	b, err := io.ReadAll(s)
	if err != nil || !s.taken {
		return string(b), nil, err
	}
	file, err = io.ReadAll(w.File().Open())
	return string(b), file, err
}

// The file's text is taken out of the outermost object, and nothing else is changed.
func TestSplitterTakesTheFile(t *testing.T) {
	const none = "none"
	for _, row := range [][3]string{
		{`{"name": "A", "data": "aGk=", "level": "gm"}`, `{"name": "A", "data":"", "level": "gm"}`, "hi"},
		{`{"data":"aGk="}`, `{"data":""}`, "hi"},
		{`{ "file_data" : "aGk=" }`, `{ "data":"" }`, "hi"},
		{`{"data":"aG\/k\u003d\r\n"}`, "", "error"},
		{`{"data":"aG\u002Fk"}`, `{"data":""}`, "h\x6f\xe4"},
		{`{"data":"aG\/k"}`, `{"data":""}`, "h\x6f\xe4"},
		{`{"data":""}`, `{"data":""}`, ""},
		{`{"a":{"data":"aGk="},"b":["data","x"]}`, `{"a":{"data":"aGk="},"b":["data","x"]}`, none},
		{`{"a":"\"data\":\"aGk=\"","data":"aGk="}`, `{"a":"\"data\":\"aGk=\"","data":""}`, "hi"},
		{`{"data":"aGk=","data":"eA=="}`, `{"data":"","data":"eA=="}`, "hi"},
		{`{"data":null,"x":1}`, `{"data":null,"x":1}`, none},
		{`{"data":["aGk="]}`, `{"data":["aGk="]}`, none},
		{`["data","aGk="]`, `["data","aGk="]`, none},
		{`"data"`, `"data"`, none},
		{`{"data"`, `{"data"`, none},
		{`{"data":"aGk=aGk="}`, "", "error"},
		{`{"data":"aGk"}`, "", "error"},
		{`{"data":"a k="}`, "", "error"},
		{`{"data":"\u1234"}`, "", "error"},
		{``, ``, none},
	} {
		for _, pieces := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader} {
			rest, file, err := split(t, pieces(strings.NewReader(row[0])), 1<<20)
			switch {
			case row[2] == "error":
				if err == nil {
					t.Errorf("%s: got %q and %q, no error", row[0], rest, file)
				}
			case err != nil || rest != row[1] || file == nil != (row[2] == none) || file != nil && string(file) != row[2]:
				t.Errorf("%s: got %s and %q, %v", row[0], rest, file, err)
			}
		}
	}
}

// A large file comes out as it went in, however the body is cut into pieces, and one over the limit is refused.
func TestSplitterTakesLargeFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	want := make([]byte, 300<<10)
	for i := range want {
		want[i] = byte(r.Uint32())
	}
	text := `{"name":"A","data":"` + base64.StdEncoding.EncodeToString(want) + `"}`
	for _, pieces := range []func(io.Reader) io.Reader{iotest.HalfReader, iotest.DataErrReader} {
		rest, file, err := split(t, pieces(strings.NewReader(text)), int64(len(want)))
		if err != nil || rest != `{"name":"A","data":""}` || !bytes.Equal(file, want) {
			t.Errorf("%s, %d bytes, %v", rest, len(file), err)
		}
	}
	if _, _, err := split(t, strings.NewReader(text), int64(len(want)-1)); err != body.ErrTooLarge {
		t.Error(err)
	}
}
