package archive

import (
	"testing"

	"loregate/internal/fault"
)

// Jobs are listed and cancelled for those who may know of them; for others there are none.
func TestJobsAreListedAndCancelled(t *testing.T) {
	s := newDesk(t)
	s.wrote("Terms", "<ul><li>dragon</li></ul>")
	out := s.Do("gm", "spoiler_scan", `{"terms_card": "Terms", "results_card": "Results", "scope": "player"}`)
	id := `{"id": "` + out.Text("job_id") + `"}`
	for who, mine := range map[string]bool{"gm": true, "admin": false} {
		s.As(who).Call("list_jobs", `{}`).Want("jobs.0.job_id", out.Text("job_id")).Want("jobs.0.kind", "spoiler_scan").
			Want("jobs.0.status", "completed").Want("jobs.0.mine", mine)
		s.As(who).Call("cancel_job", id).Want("status", "completed").Want("message", "it had ended already")
	}
	s.As("user").Call("list_jobs", `{}`).Want("jobs.#", 0)
	hidden := s.As("user").WantNotFound("cancel_job", id)
	absent := s.As("user").WantNotFound("cancel_job", `{"id": "01900000-0000-7000-8000-000000000000"}`)
	if hidden != absent {
		t.Errorf("%q and %q differ", hidden, absent)
	}
	s.As("gm").Call("list_jobs", `{"open": true}`).Want("jobs.#", 0)
	if f := s.As("admin").asked("list_jobs", `{"everywhere": true}`); f.Kind != fault.Denied {
		t.Errorf("a world's admin lists the jobs of all worlds: %v", f)
	}
}
