package console

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"loregate/internal/body"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// Times in which a form arrives.
const (
	formWait   = 30 * time.Second
	uploadWait = 5 * time.Minute
)

// formWeight is the number of bytes of memory that each byte of a form takes while it is handled: the form, its fields,
// and the input and texts made of them.
const formWeight = 3

// errLongForm is the error for a form of somebody who is not signed in.
var errLongForm = fault.New(fault.TooLarge, "the form could not be read, or is larger than 16 KiB; go back and "+
	"send it again")

// withForm reads the form of a request whose sender is not known. It is too short to be counted.
func (s *server) withForm(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &visit{w: w, r: r, s: s}
		if err := v.readForm(body.Uncounted, errLongForm); err != nil {
			v.showError(err)
			return
		}
		h(w, r)
	}
}

// readForm reads a form of at most limit bytes; otherwise the error is wrong.
func (v *visit) readForm(limit int64, wrong *fault.Error) error {
	text, err := v.hold.ReadAll(v.r.Context(), body.Source{Reader: v.s.Bodies.ReadRequest(v.w, v.r, formWait),
		Size: v.r.ContentLength, Limit: limit, Weight: formWeight})
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return known
	}
	if err != nil {
		return wrong.Because(err)
	}
	v.r.Body = io.NopCloser(bytes.NewReader(text))
	if err := v.r.ParseForm(); err != nil {
		return wrong.Because(err)
	}
	return nil
}

// upload is the file of a form, and the fields beside it.
type upload struct {
	name  string // with the folders below the chosen one
	file  *body.File
	level string
	below string // name of the card below which the file is put; "" for none
}

// Limits of uploads.
const (
	maxUpload      = 64 << 20 // bytes of all files
	maxUploadFiles = 20_000
)

// withUpload answers requests of people who are signed in that bring files for an operation. Nothing is read before it
// is known that the caller may call it.
func (s *server) withUpload(operation string, h pageHandler) http.HandlerFunc {
	return s.withVisit(func(v *visit) error {
		// The fields are read with the files.
		v.r.Form, v.r.PostForm = v.r.URL.Query(), url.Values{}
		world, err := s.Engine.Foresee(v.r.Context(), v.caller, op.Request{Operation: operation, World: v.world,
			Transport: "console"})
		if err == nil && !world.IsZero() {
			v.hold.SetWorld(world.String())
		}
		return err
	}, h)
}

// readUpload reads the files of a form to disk: one of them as it is, several as a zip.
func (v *visit) readUpload() (u upload, err error) {
	_, params, err := mime.ParseMediaType(v.r.Header.Get("Content-Type"))
	if err != nil || params["boundary"] == "" {
		return u, fault.New(fault.Invalid, "the form has no files; send it as multipart/form-data")
	}
	if v.r.ContentLength > maxUpload+maxForm {
		return u, errUpload
	}
	form := v.hold.NewForm(v.s.Bodies.ReadRequest(v.w, v.r, uploadWait), params["boundary"])
	p := packer{v: v, left: maxUpload}
	for {
		part, err := form.Next()
		if errors.Is(err, io.EOF) {
			return p.closeUpload()
		}
		if err == nil {
			err = p.takePart(form, part)
		}
		if known, ok := errors.AsType[*fault.Error](err); ok {
			return u, known
		}
		if err != nil {
			return u, errUpload.Because(err)
		}
	}
}

var errUpload = fault.New(
	fault.TooLarge,
	"the files could not be read, or are more than 20,000 or larger than 64 MiB; "+
		"import them in parts, or with loregate import on the server",
)

// packer puts the files of a form into one.
type packer struct {
	v     *visit
	up    upload
	files int
	left  int64 // bytes that files may still have
	to    *body.Writer
	zip   *zip.Writer // nil while there is one file at most, which is kept as it is
}

func (p *packer) takePart(form *body.Form, part *multipart.Part) error {
	switch part.FormName() {
	case "level", "below":
		text, err := form.Text(p.v.r.Context(), part)
		if part.FormName() == "level" {
			p.up.level = string(text)
		} else {
			p.up.below = string(text)
		}
		return err
	case "file":
		return p.takeFile(part)
	}
	_, err := form.Text(p.v.r.Context(), part)
	return err
}

func (p *packer) takeFile(part *multipart.Part) error {
	_, how, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return err
	}
	name := strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(how["filename"], `\`, "/")), "/")
	if name == "" {
		return nil // no file was chosen
	}
	if p.files++; p.files > maxUploadFiles {
		return errUpload
	}
	if p.files == 1 && !strings.Contains(name, "/") && !isNote(name) {
		p.up.name = name
		p.up.file, err = p.v.hold.Spool(p.v.r.Context(), body.Source{Reader: part, Limit: maxUpload,
			Size: min(p.v.r.ContentLength, maxUpload)})
		if err == nil {
			p.left -= p.up.file.Size()
		}
		return err
	}
	return p.pack(name, part)
}

// pack adds a file to the zip.
func (p *packer) pack(name string, file io.Reader) (err error) {
	if p.zip == nil {
		if p.to, err = p.v.hold.Create(p.v.r.Context(), -1); err != nil {
			return err
		}
		p.zip = zip.NewWriter(p.to)
		if first := p.up.file; first != nil {
			p.up.file, p.left = nil, maxUpload
			if err := p.pack(p.up.name, first.Open()); err != nil {
				return err
			}
		}
	}
	w, err := p.zip.Create(name)
	if err != nil {
		return err
	}
	n, err := io.Copy(w, io.LimitReader(file, p.left+1))
	if p.left -= n; err == nil && p.left < 0 {
		return errUpload
	}
	return err
}

func (p *packer) closeUpload() (upload, error) {
	switch {
	case p.files == 0:
		return p.up, fault.New(fault.Invalid, "choose a file or a folder first")
	case p.zip == nil:
		return p.up, nil
	}
	err := p.zip.Close()
	p.up.name, p.up.file = "notes.zip", p.to.File()
	return p.up, err
}

// isNote reports whether a file is a note, which is imported as a vault of one.
func isNote(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".md" || ext == ".markdown"
}
