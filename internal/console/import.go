package console

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Limits of uploads.
const (
	maxUpload      = 64 << 20 // bytes of all files
	maxUploadFiles = 20_000
)

// importJob is an import, or the check of one.
type importJob struct {
	ID      string        `json:"id"`
	Kind    string        `json:"kind"`
	Status  string        `json:"status"`
	Done    int           `json:"done"`
	Total   int           `json:"total"`
	Message string        `json:"message"`
	File    string        `json:"file"`
	Choices importChoices `json:"choices"`
	Report  *importReport `json:"report"`
}

type importChoices struct {
	Level     string   `json:"level"`
	Open      []string `json:"open"`
	Confirm   []string `json:"confirm"`
	HideLinks bool     `json:"hide_links"`
}

type importReport struct {
	Format    string          `json:"format"`
	Files     int             `json:"files"`
	Created   int             `json:"created"`
	Updated   int             `json:"updated"`
	Unchanged int             `json:"unchanged"`
	Links     int             `json:"links"`
	Versions  int             `json:"versions"`
	Attached  int             `json:"attached"`
	Moved     int             `json:"moved"`
	ForAll    int             `json:"for_all"`
	ForGM     int             `json:"for_gm"`
	ForAdmin  int             `json:"for_admin"`
	Starter   string          `json:"starter"`
	Said      []string        `json:"said"`
	Doubts    []importHide    `json:"doubts"`
	Hides     []importHide    `json:"hides"`
	Mentions  []importMention `json:"mentions"`
	Problems  []importProblem `json:"problems"`
	More      struct {
		Doubts   int `json:"doubts"`
		Hides    int `json:"hides"`
		Mentions int `json:"mentions"`
		Problems int `json:"problems"`
	} `json:"more"`
}

type importHide struct {
	Rule  string   `json:"rule"`
	Mark  string   `json:"mark"`
	Notes int      `json:"notes"`
	Parts int      `json:"parts"`
	Files []string `json:"files"`
}

// choice returns the text by which an import knows the mark.
func (h importHide) choice() string {
	if h.Mark == "" {
		return h.Rule
	}
	return h.Rule + ": " + h.Mark
}

type importMention struct {
	File string `json:"file"`
	Of   string `json:"of"`
	Link bool   `json:"link"`
}

type importProblem struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Why  string `json:"why"`
}

// text returns a problem with its place.
func (p importProblem) text() string {
	if p.Line > 0 {
		return p.File + ", line " + strconv.Itoa(p.Line) + ": " + p.Why
	}
	return p.File + ": " + p.Why
}

// importForm holds the data of the page with the forms.
type importForm struct {
	Roles    []string // as which the person may export, lowest first
	Problem  string
	Problems []fault.Field
}

// showImport shows the forms that bring files in and take them out.
func (s *server) showImport(v *visit) error {
	if !managesWorlds(v.caller) {
		return errGMOnly
	}
	return v.writeImport(nil)
}

// writeImport shows the forms, with the problem of one that was sent.
func (v *visit) writeImport(problem error) error {
	form := importForm{}
	form.Problem, form.Problems = problemOf(problem)
	for r := access.RoleUser; r <= bestRole(v.caller); r++ {
		form.Roles = append(form.Roles, r.String())
	}
	return v.write(statusOf(problem), importPage(v.frame("Import and export"), form))
}

var errGMOnly = fault.New(fault.Denied, "only game masters and admins import and export; ask one of them")

// checkUpload sends the files of the form to be checked.
func (s *server) checkUpload(v *visit) error {
	if !managesWorlds(v.caller) {
		return errGMOnly // before anything is read
	}
	name, level, data, err := readUpload(v.r)
	var j importJob
	if err == nil {
		j, err = callUpload[importJob](v, "check_import", fields{"filename": name}.with("level", level), data)
	}
	if problem, _ := problemOf(err); problem != "" {
		return v.writeImport(err)
	}
	if err != nil {
		return err
	}
	return v.redirect(addressOf("import", v.world, j.ID))
}

// upload is a file of a form.
type upload struct {
	name string // with the folders below the chosen one
	data []byte
}

// readUpload reads the files of a form: one of them as it is, several as a zip.
func readUpload(r *http.Request) (name, level string, data []byte, err error) {
	form, err := readParts(r)
	files, level := form.files, form.level
	switch {
	case err != nil:
		return "", "", nil, err
	case len(files) == 0:
		return "", "", nil, fault.New(fault.Invalid, "choose a file or a folder first")
	case len(files) == 1 && !strings.Contains(files[0].name, "/") && !isNote(files[0].name):
		return files[0].name, level, files[0].data, nil
	}
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, f := range files {
		w, err := z.Create(f.name)
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			return "", "", nil, err
		}
	}
	err = z.Close()
	return "notes.zip", level, buf.Bytes(), err
}

// isNote reports whether a file is a note, which is imported as a vault of one.
func isNote(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".md" || ext == ".markdown"
}

// filesForm is a form with files.
type filesForm struct {
	files []upload
	level string
	below string // name of the card below which the files are put; "" for none
}

func readParts(r *http.Request) (form filesForm, err error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return form, fault.New(fault.Invalid, "the form has no files; send it as multipart/form-data").Because(err)
	}
	left := int64(maxUpload)
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return form, nil
		}
		if err != nil {
			return form, errUpload.Because(err)
		}
		data, err := io.ReadAll(io.LimitReader(part, left+1))
		if left -= int64(len(data)); err != nil || left < 0 {
			return form, errUpload.Because(err)
		}
		_, how, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if err != nil {
			return form, errUpload.Because(err)
		}
		name := strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(how["filename"], `\`, "/")), "/")
		switch {
		case part.FormName() == "level":
			form.level = string(data)
		case part.FormName() == "below":
			form.below = string(data)
		case part.FormName() == "file" && name != "":
			if form.files = append(form.files, upload{name, data}); len(form.files) > maxUploadFiles {
				return form, errUpload
			}
		}
	}
}

var errUpload = fault.New(
	fault.TooLarge,
	"the files could not be read, or are more than 20,000 or larger than 64 MiB; "+
		"import them in parts, or with loregate import on the server",
)

// showImportJob shows a check, to be decided about, or an import.
func (s *server) showImportJob(v *visit) error { return v.writeImportJob(v.r.PathValue("id"), nil) }

func (v *visit) writeImportJob(id string, problem error) error {
	j, err := call[importJob](v, "get_import", fields{"id": id})
	if err != nil {
		return err
	}
	said, _ := problemOf(problem)
	return v.write(statusOf(problem), importJobPage(v.frame("Import"), j, said))
}

// decideImport checks an import again with other choices, or carries it out.
func (s *server) decideImport(v *visit) error {
	id, form := v.r.PathValue("id"), v.r.PostForm
	var j importJob
	var err error
	switch v.r.PathValue("do") {
	case "carry-out":
		j, err = call[importJob](v, "carry_out_import", fields{"id": id})
	case "check":
		in := fields{}.with("level", form.Get("level"))
		open, confirm := form["open"], form["confirm"]
		for i, mark := range form["mark"] {
			switch form.Get("decide-" + strconv.Itoa(i)) {
			case "open":
				open = append(open, mark)
			case "confirm":
				confirm = append(confirm, mark)
			}
		}
		in["open"], in["confirm"], in["hide_links"] = nonNil(open), nonNil(confirm), form.Get("hide_links") != ""
		j, err = call[importJob](v, "check_import", in)
	default:
		err = errNothingHere
	}
	if problem, _ := problemOf(err); problem != "" {
		return v.writeImportJob(id, err)
	}
	if err != nil {
		return err
	}
	return v.redirect(addressOf("import", v.world, j.ID))
}

// nonNil returns a list whose JSON is no null.
func nonNil(list []string) []string { return append([]string{}, list...) }

// exportWorld sends the world as files, as a role sees it.
func (s *server) exportWorld(v *visit) error {
	q := v.r.URL.Query()
	return v.sendFile("export_world", fields{}.with("role", q.Get("role")).with("format", q.Get("format")))
}
