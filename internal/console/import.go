package console

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/slicesx"
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
	Links     []string `json:"links"`
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
	Asked     []importLink    `json:"asked"`
	Mentions  []importMention `json:"mentions"`
	Problems  []importProblem `json:"problems"`
	More      struct {
		Doubts   int `json:"doubts"`
		Hides    int `json:"hides"`
		Asked    int `json:"asked"`
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

// answerTo returns the answer that the choices give to a question: "open", "confirm" or "".
func (c importChoices) answerTo(mark string) string {
	switch {
	case slices.Contains(c.Confirm, mark):
		return "confirm"
	case slices.Contains(c.Open, mark):
		return "open"
	}
	return ""
}

// others returns the choices of a list that answer none of the questions of a report.
func (r importReport) others(choices []string) []string {
	return slicesx.Filter(choices, func(c string) bool {
		return !slices.ContainsFunc(r.Doubts, func(h importHide) bool { return h.choice() == c })
	})
}

// choice returns the text by which an import knows the mark.
func (h importHide) choice() string {
	if h.Mark == "" {
		return h.Rule
	}
	return h.Rule + ": " + h.Mark
}

// importLink is a link that fits several notes.
type importLink struct {
	Target   string   `json:"target"`
	Notes    []string `json:"notes"`
	Answered bool     `json:"answered"`
}

// answers returns the possible answers, that of the present decision first.
func (l importLink) answers() (all []string) {
	for _, note := range l.Notes {
		all = append(all, l.Target+"="+note)
	}
	return all
}

// isAnswered reports whether one of the choices of this check is an answer.
func (l importLink) isAnswered(answer string, c importChoices) bool {
	return slices.Contains(c.Links, answer) || l.Answered && answer == l.answers()[0]
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

// underWay reports whether the job waits or runs.
func (j importJob) underWay() bool { return j.Status == "queued" || j.Status == "running" }

// listedJob is work in the background.
type listedJob struct {
	ID      string    `json:"job_id"`
	Kind    string    `json:"kind"`
	Status  string    `json:"status"`
	Mine    bool      `json:"mine"`
	Message string    `json:"message"`
	Created time.Time `json:"created_at"`
}

type listedJobs struct {
	Jobs []listedJob `json:"jobs"`
}

// importForm holds the data of the page with the forms.
type importForm struct {
	Roles    []string    // as which the person may export, lowest first
	Jobs     []listedJob // that wait or run, and that the person may cancel
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
	list, err := call[listedJobs](v, "list_jobs", fields{"open": true})
	if err != nil {
		return err
	}
	form.Jobs = list.Jobs
	return v.write(statusOf(problem), importPage(v.frame("Import and export"), form))
}

var errGMOnly = fault.New(fault.Denied, "only game masters and admins import and export; ask one of them")

// checkUpload sends the files of the form to be checked.
func (s *server) checkUpload(v *visit) error {
	if !managesWorlds(v.caller) {
		return errGMOnly // before anything is read
	}
	up, err := v.readUpload()
	var j importJob
	if err == nil {
		j, err = callUpload[importJob](v, "check_import", fields{"filename": up.name}.with("level", up.level), up.file)
	}
	if problem, _ := problemOf(err); problem != "" {
		return v.writeImport(err)
	}
	if err != nil {
		return err
	}
	return v.redirect(addressOf("import", v.world, j.ID))
}

// showImportJob shows a check, to be decided about, or an import.
func (s *server) showImportJob(v *visit) error {
	return v.writeImportJob(v.r.PathValue("id"), nil, nil)
}

// writeImportJob shows a check or an import. After a problem it shows the answers that were given, which are not kept.
func (v *visit) writeImportJob(id string, problem error, given *importChoices) error {
	j, err := call[importJob](v, "get_import", fields{"id": id})
	if err != nil {
		return err
	}
	if given != nil {
		j.Choices = *given
	}
	said, _ := problemOf(problem)
	return v.write(statusOf(problem), importJobPage(v.frame("Import"), j, said))
}

// cancelJob cancels a job, and shows an import as it ended, or else the jobs that are left.
func (v *visit) cancelJob(id string) error {
	j, err := call[listedJob](v, "cancel_job", fields{"id": id})
	switch problem, _ := problemOf(err); {
	case problem != "":
		return v.writeImport(err)
	case err != nil:
		return err
	case j.Mine && j.isImport():
		return v.redirect(addressOf("import", v.world, id))
	}
	return v.redirect(addressOf("import", v.world))
}

func (j listedJob) isImport() bool { return j.Kind == "check_import" || j.Kind == "import" }

// decideImport checks an import again with other choices, carries it out, or cancels a job.
func (s *server) decideImport(v *visit) error {
	id, form := v.r.PathValue("id"), v.r.PostForm
	var j importJob
	var given *importChoices
	var err error
	switch v.r.PathValue("do") {
	case "cancel":
		return v.cancelJob(id)
	case "carry-out":
		j, err = call[importJob](v, "carry_out_import", fields{"id": id})
	case "check":
		given = givenChoices(form)
		j, err = call[importJob](v, "check_import", fields{"open": nonNil(given.Open), "confirm": nonNil(given.Confirm),
			"links": nonNil(given.Links), "hide_links": given.HideLinks}.with("level", given.Level))
	default:
		err = errNothingHere
	}
	if problem, _ := problemOf(err); problem != "" {
		return v.writeImportJob(id, err, given)
	}
	if err != nil {
		return err
	}
	return v.redirect(addressOf("import", v.world, j.ID))
}

// givenChoices returns the choices that a form sends.
func givenChoices(form url.Values) *importChoices {
	c := importChoices{Level: form.Get("level"), Open: form["open"], Confirm: form["confirm"],
		HideLinks: form.Get("hide_links") != ""}
	for i, mark := range form["mark"] {
		switch form.Get("decide-" + strconv.Itoa(i)) {
		case "open":
			c.Open = append(c.Open, mark)
		case "confirm":
			c.Confirm = append(c.Confirm, mark)
		}
	}
	for i := range form["link"] {
		if answer := form.Get("link-" + strconv.Itoa(i)); answer != "" {
			c.Links = append(c.Links, answer)
		}
	}
	return &c
}

// nonNil returns a list whose JSON is no null.
func nonNil(list []string) []string { return append([]string{}, list...) }

// exportWorld sends the world as files, as a role sees it.
func (s *server) exportWorld(v *visit) error {
	q := v.r.URL.Query()
	return v.sendFile("export_world", fields{}.with("role", q.Get("role")).with("format", q.Get("format")))
}
