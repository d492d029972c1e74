package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"loregate/internal/fault"
)

// target is an authoring program of the studio.
type target struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Ready   bool   `json:"ready"`
	Missing string `json:"missing"`
	Waiting int    `json:"waiting"`
}

// run is one run of the studio.
type run struct {
	ID        string    `json:"run_id"`
	Tool      string    `json:"tool_name"`
	Status    string    `json:"status"`
	Actor     string    `json:"actor"`
	Started   time.Time `json:"started_at"`
	Ended     time.Time `json:"ended_at"`
	Sources   []source  `json:"sources"`
	Artifacts int       `json:"artifacts"`
	Error     string    `json:"error"`
	UndoneBy  string    `json:"undone_by"`
	Progress  struct {
		Done    float64 `json:"done"`
		Total   float64 `json:"total"`
		Message string  `json:"message"`
	} `json:"progress"`
}

// isUnderWay reports whether the run has not ended yet.
func (r run) isUnderWay() bool { return r.Ended.IsZero() }

// source is a card that a run was built from.
type source struct {
	Name    string `json:"name"`
	ID      string `json:"card_id"`
	Version int    `json:"version"`
}

// studio holds the data of the studio's page.
type studio struct {
	Targets []target
	Runs    []run
	Total   int
	Offset  int
	Stale   []staleRun
	Intent  string
	Plan    *plan
	Problem string
}

type staleRun struct {
	ID   string `json:"run_id"`
	Card string `json:"card"`
}

// plan is a draft of tool calls.
type plan struct {
	Plan struct {
		ID            string   `json:"plan_id"`
		NotUnderstood []string `json:"not_understood"`
		Calls         []struct {
			Tool string         `json:"tool"`
			With map[string]any `json:"with"`
		} `json:"calls"`
	} `json:"plan"`
	Assumed   []string `json:"assumptions"`
	Questions []string `json:"questions"`
	Valid     bool     `json:"valid"`
	Problems  []string `json:"problems"`
}

// showStudio lists targets, runs, and places that have changed since they were built.
func (s *server) showStudio(v *visit) error { return v.writeStudio(studio{}, nil) }

const runsOnAPage = 20

func (v *visit) writeStudio(st studio, problem error) error {
	st.Problem, _ = problemOf(problem)
	targets, err := call[struct {
		Targets []target `json:"targets"`
	}](v, "list_targets", nil)
	if err != nil {
		return err
	}
	st.Targets = targets.Targets
	st.Offset, _ = strconv.Atoi(v.r.URL.Query().Get("offset"))
	runs, err := call[struct {
		Runs  []run `json:"runs"`
		Total int   `json:"total"`
	}](v, "list_runs", fields{"limit": runsOnAPage, "offset": max(0, st.Offset)})
	if err != nil {
		return err
	}
	st.Runs, st.Total = runs.Runs, runs.Total
	stale, err := call[struct {
		Stale []staleRun `json:"stale"`
	}](v, "list_stale", nil)
	if err != nil {
		return err
	}
	st.Stale = stale.Stale
	return v.write(statusOf(problem), studioPage(v.frame("Studio"), st))
}

// planScene turns a sentence into a plan, which the person reads before it is carried out.
func (s *server) planScene(v *visit) error {
	st := studio{Intent: v.r.PostFormValue("intent")}
	p, err := call[plan](v, "plan_create", fields{"intent": st.Intent})
	if problem, _ := problemOf(err); problem != "" {
		return v.writeStudio(st, err)
	}
	if err != nil {
		return err
	}
	st.Plan = &p
	return v.writeStudio(st, nil)
}

// carryOut executes a plan and goes to its run.
func (s *server) carryOut(v *visit) error {
	out, err := call[struct {
		RunID string `json:"run_id"`
		Error *struct {
			Message string `json:"message"`
		} `json:"error"`
	}](v, "plan_execute", fields{"plan_id": v.r.PathValue("plan"), "confirm": v.r.PostFormValue("confirm") != ""})
	if err == nil && out.RunID == "" && out.Error != nil {
		err = fault.New(fault.Rule, "%s", out.Error.Message)
	}
	if problem, _ := problemOf(err); problem != "" {
		return v.writeStudio(studio{}, err)
	}
	if err != nil {
		return err
	}
	return v.redirect(addressOf("run", v.world, out.RunID))
}

// runRecord is a run with all that it did.
type runRecord struct {
	Run struct {
		ID       string    `json:"run_id"`
		Tool     string    `json:"tool_name"`
		Status   string    `json:"status"`
		Actor    string    `json:"actor"`
		Started  time.Time `json:"started_at"`
		Ended    time.Time `json:"ended_at"`
		Sources  []source  `json:"sources"`
		Warnings []string  `json:"warnings"`
		Error    *struct {
			Message string `json:"message"`
		} `json:"error"`
		Artifacts []artifact `json:"artifacts"`
		Steps     []struct {
			Tool   string `json:"tool_name"`
			Target struct {
				Name string `json:"name"`
			} `json:"target"`
		} `json:"steps"`
	} `json:"run"`
	UndoneBy string `json:"undone_by"`
}

type artifact struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Bytes     int    `json:"bytes"`
	MediaType string `json:"media_type"`
}

// isPicture reports whether browsers show the artifact.
func (a artifact) isPicture() bool { return slices.Contains(pictureTypes, a.MediaType) }

// isModel reports whether the 3D view shows the artifact.
func (a artifact) isModel() bool { return a.MediaType == "model/gltf-binary" }

// isUnderWay reports whether the run has not ended yet.
func (r runRecord) isUnderWay() bool { return r.Run.Ended.IsZero() }

// picture returns the first picture that the run made; nil if it made none.
func (r runRecord) picture() *artifact {
	if i := slices.IndexFunc(r.Run.Artifacts, artifact.isPicture); i >= 0 {
		return &r.Run.Artifacts[i]
	}
	return nil
}

// showModel shows a scene that a run made in 3D. Textures come out of the file: the page may load blobs, which only its
// own script can make.
func (s *server) showModel(v *visit) error {
	id := v.r.PathValue("id")
	run, _, _ := strings.Cut(id, ".")
	r, err := call[runRecord](v, "get_run", fields{"run_id": run})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(r.Run.Artifacts, func(a artifact) bool { return a.ID == id && a.isModel() })
	if i < 0 {
		return errNothingHere
	}
	v.w.Header().Set("Content-Security-Policy", strings.NewReplacer("img-src 'self'", "img-src 'self' blob:",
		"connect-src 'self'", "connect-src 'self' blob:").Replace(policy))
	return v.write(http.StatusOK, modelPage(v.frame(r.Run.Artifacts[i].Name), r, r.Run.Artifacts[i]))
}

func (s *server) showRun(v *visit) error {
	r, err := call[runRecord](v, "get_run", fields{"run_id": v.r.PathValue("id")})
	if err != nil {
		return err
	}
	return v.write(http.StatusOK, runPage(v.frame("Run"), r))
}

// undoRun takes back the latest run on its targets.
func (s *server) undoRun(v *visit) error {
	if _, err := call[struct{}](v, "undo_run", fields{"run_id": v.r.PathValue("id")}); err != nil {
		return err
	}
	return v.redirect(addressOf("run", v.world, v.r.PathValue("id")))
}

// sendArtifact sends a file that a run made.
func (s *server) sendArtifact(v *visit) error {
	return v.sendFile("get_artifact", fields{"artifact_id": v.r.PathValue("id")})
}

// argumentsText returns the arguments of a call of a plan, as people read them.
func argumentsText(with map[string]any) string {
	var parts []string
	for _, f := range (card{Fields: rawFields(with)}).listFields() {
		parts = append(parts, f.Name+": "+f.Value)
	}
	return strings.Join(parts, "; ")
}
