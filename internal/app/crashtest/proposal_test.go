package crashtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loregate/internal/app/apptest"
	"loregate/internal/wait"
)

// TestCrashProposal kills the shipped binary at random moments while proposers make proposals
// and a judge approves them. After the restart each proposer repeats its calls twice under the
// same keys: there is one verdict, one event, one change and one answer.
func TestCrashProposal(t *testing.T) { testProposals(t, t.TempDir()) }

func testProposals(t *testing.T, at string) {
	for _, limit := range []string{"PLAYER_MINUTE", "PLAYER_HOUR", "KEY_MINUTE", "WORLD_MINUTE", "TOKENS_DAY"} {
		t.Setenv("LOREGATE_PROPOSALS_"+limit, "1000000000")
	}
	mustRun(t, at, "world", "create", "main")
	credential := func(args ...string) string {
		key, _, _ := strings.Cut(mustRun(t, at, append([]string{"key", "create"}, args...)...), "\t")
		return key
	}
	author, judge := credential("author", "--actor", "person"),
		credential("judge", "--actor", "person", "--role", "admin", "--approve")
	s := startServer(t, at, judge)
	place := s.createPlace(t)
	s.kill()
	world, ledger := streamLengths(t, at)
	var suitors []*proposer
	for i := range 4 {
		suitors = append(suitors, &proposer{t: t, tag: string(rune('a' + i)), place: place, author: author, judge: judge,
			quests: i == 0})
	}
	rnd, kills := rand.New(rand.NewPCG(uint64(countFromEnv("SEED", 1)), 13)), countFromEnv("CRASH_KILLS", 3)
	s = startServer(t, at, judge)
	for n := range kills {
		proposeUntilKilled(t, s, suitors, int64(rnd.IntN(40)), time.Duration(rnd.IntN(8000))*time.Microsecond)
		s = startServer(t, at, judge)
		for _, one := range suitors {
			if err := one.resume(t.Context(), s); err != nil {
				t.Fatalf("after kill %d: %v", n+1, err)
			}
		}
	}
	s.kill()
	changes, verdicts, inFlight := 0, 0, 0
	for _, one := range suitors {
		changes, verdicts, inFlight = changes+one.changes, verdicts+one.records, inFlight+one.open
	}
	gotWorld, gotLedger := streamLengths(t, at)
	if gotWorld-world != changes || gotLedger-ledger != verdicts {
		t.Errorf("the world has %d commits more and the ledger %d; accepted were %d, judged and decided %d", gotWorld-world,
			gotLedger-ledger, changes, verdicts)
	}
	if out := mustRun(t, at, "rebuild"); !strings.Contains(out, "identical") {
		t.Errorf("rebuild says: %s", out)
	}
	t.Logf("%d kills: %d changes of %d verdicts and decisions; %d calls were in flight", kills, changes, verdicts,
		inFlight)
}

// proposeUntilKilled lets the proposers work, and kills the server some time after a number of
// proposals.
func proposeUntilKilled(t *testing.T, s *server, suitors []*proposer, after int64, then time.Duration) {
	var calls atomic.Int64
	var all sync.WaitGroup
	for _, one := range suitors {
		all.Go(func() {
			for one.proposeNext(t.Context(), s) {
				calls.Add(1)
			}
		})
	}
	apptest.Eventually(t, "suitors get answers", maxWait, func() bool { return calls.Load() >= after })
	wait.For(t.Context(), then)
	s.kill()
	all.Wait()
}

// createPlace creates a place over REST.
func (s *server) createPlace(t testing.TB) string {
	t.Helper()
	var card struct{ ID string }
	if err := s.callAPI(t.Context(), s.key, "/api/mcp/cards", "",
		map[string]any{"name": "Rent Quay", "type": "Location", "content": "<p>Black stone.</p>"}, &card); err != nil ||
		card.ID == "" {
		t.Fatal(card, err)
	}
	return card.ID
}

// unexpectedAnswer is the error for an answer that is no success, or not the expected one.
type unexpectedAnswer struct{ text string }

func (r unexpectedAnswer) Error() string { return r.text }

// callAPI calls a REST path with a credential. It sends a GET if in is nil, and a POST
// otherwise.
func (s *server) callAPI(ctx context.Context, credential, path, key string, in, out any) error {
	method, body := http.MethodPost, io.Reader(http.NoBody)
	if in == nil {
		method = http.MethodGet
	} else {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+credential)
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	res, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 300 {
		return unexpectedAnswer{fmt.Sprintf("%s: %d %s", path, res.StatusCode, b)}
	}
	if err == nil {
		err = json.Unmarshal(b, out)
	}
	return err
}

// proposer makes one proposal after the other: ambience, or quests, which a judge approves.
type proposer struct {
	t             testing.TB
	tag, place    string
	author, judge string // credentials
	quests        bool

	n       int // number of the current proposal
	begun   bool
	said    [2]verdict // answers to the current proposal and its approval
	hash    string     // the hash that the approval names
	changes int        // expected changes of the world
	records int        // expected records in the ledger
	open    int        // calls that were in flight at a kill
}

// verdict is the answer to a proposal or an approval.
type verdict struct{ Status, ProposalID, EventID string }

// proposeNext makes the next proposal. It reports whether every answer came.
func (u *proposer) proposeNext(ctx context.Context, s *server) bool {
	u.n, u.begun, u.said, u.hash = u.n+1, true, [2]verdict{}, ""
	err := u.propose(ctx, s)
	if r, ok := err.(unexpectedAnswer); ok {
		u.t.Error(r)
	}
	return err == nil
}

// propose makes the calls of the current proposal, for the first time or again.
func (u *proposer) propose(ctx context.Context, s *server) error {
	w := fmt.Sprintf("w%d%s", u.n, u.tag)
	text := w + "a " + w + "b " + w + "c " + w + "d"
	if !u.quests {
		return u.countDone(1, u.call(ctx, s, 0, u.author, "/api/proposals/ambience",
			map[string]any{"locationId": u.place, "layerType": "ambient", "text": text}))
	}
	quest := map[string]any{"title": text, "hook": text + " hook",
		"objectives": []any{map[string]any{"id": "a", "text": text, "waitMinutes": 1}}}
	if err := u.call(ctx, s, 0, u.author, "/api/proposals/quest", map[string]any{"seedSpec": quest}); err != nil {
		return err
	}
	path := "/api/proposals/" + u.said[0].ProposalID
	if u.hash == "" {
		var shown struct{ ExpectedHash string }
		if err := s.callAPI(ctx, u.judge, path, "", nil, &shown); err != nil {
			return err
		}
		u.hash = shown.ExpectedHash
	}
	return u.countDone(2, u.call(ctx, s, 1, u.judge, path+"/approve", map[string]any{"expectedHash": u.hash}))
}

// call makes a call under its key. The answer must be the same as before, except that a quest
// that was approved meanwhile has an event.
func (u *proposer) call(ctx context.Context, s *server, n int, credential, path string, in any) error {
	var v verdict
	if err := s.callAPI(ctx, credential, path, fmt.Sprintf("%s-%d-%d", u.tag, u.n, n), in, &v); err != nil {
		return err
	}
	before := u.said[n]
	if u.quests && n == 0 {
		before.EventID, v.EventID = "", "" // a quest has an event only once it is approved
	}
	if before != (verdict{}) && v != before || v.ProposalID == "" || v.EventID == "" && (n == 1 || !u.quests) {
		return unexpectedAnswer{fmt.Sprintf("%s of %s-%d answers %+v, and before %+v", path, u.tag, u.n, v, before)}
	}
	u.said[n] = v
	return nil
}

func (u *proposer) countDone(records int, err error) error {
	if err == nil && u.begun {
		u.begun, u.changes, u.records = false, u.changes+1, u.records+records
	}
	return err
}

// resume finishes the proposal that was interrupted by a kill, and repeats it: the repetition
// changes nothing.
func (u *proposer) resume(ctx context.Context, s *server) error {
	if u.n == 0 {
		return nil
	}
	if u.begun {
		u.open++
	}
	for range 2 {
		if err := u.propose(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

var headLine = regexp.MustCompile(`(?m)^(world|proposals):\S+: (\d+) commits, chain intact$`)

// streamLengths returns the lengths of the world's verified stream and of its ledger of
// proposals.
func streamLengths(t testing.TB, at string) (world, ledger int) {
	t.Helper()
	out := mustRun(t, at, "audit", "verify")
	for _, m := range headLine.FindAllStringSubmatch(out, -1) {
		n, _ := strconv.Atoi(m[2]) // digits, by the pattern
		if m[1] == "world" {
			world += n
		} else {
			ledger += n
		}
	}
	if world == 0 {
		t.Fatalf("audit verify says: %s", out)
	}
	return world, ledger
}
