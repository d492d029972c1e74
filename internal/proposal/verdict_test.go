package proposal_test

import (
	"testing"

	"loregate/internal/access"
)

// The input hashes of the verdicts do not reveal to an author how many proposals of others or
// hidden changes there are.
func TestVerdictHashesDoNotRevealHidden(t *testing.T) {
	hashes := func(before func(*scene)) (list []string) {
		s := newScene(t, "")
		before(s)
		ada := s.as("ada", access.RoleUser)
		for _, v := range ada.get(ada.propose("propose-ambience",
			ambience("Rope creaks in its own time.")).ProposalID).Verdicts {
			list = append(list, string(v.Gate)+" "+v.InputHash)
		}
		return list
	}
	alone := hashes(func(*scene) {})
	beside := hashes(func(s *scene) {
		s.as("gm", access.RoleGM).propose("propose-ambience",
			fields{"locationId": ids["@cellar"], "layerType": "ambient", "text": "Something down here hums in nine."})
	})
	for i := range alone {
		if alone[i] != beside[i] {
			t.Errorf("%s becomes %s", alone[i], beside[i])
		}
	}
}
