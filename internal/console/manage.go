package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"loregate/internal/fault"
)

// standing is an approval that lets proposals pass.
type standing struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind"`
	Operation string    `json:"operation"`
	Under     string    `json:"under"`
	PerHour   int       `json:"perHour"`
	By        string    `json:"by"`
	At        time.Time `json:"atUtc"`
}

// usageGroup counts the work of models in a period, for one purpose, model or day, or in all.
type usageGroup struct {
	Key        string `json:"key"`
	Count      int    `json:"count"`
	Prompt     int    `json:"tokensPrompt"`
	Completion int    `json:"tokensCompletion"`
	MicroUSD   int64  `json:"costMicroUsd"`
	Latency    struct {
		P50 float64 `json:"p50"`
		P95 float64 `json:"p95"`
	} `json:"latencyMs"`
	Rejected      float64 `json:"rejectedRate"`
	Grams         int     `json:"grams"`
	DistinctGrams int     `json:"distinctGrams"`
}

type usage struct {
	Since    time.Time    `json:"since"`
	Until    time.Time    `json:"until"`
	Total    usageGroup   `json:"total"`
	Groups   []usageGroup `json:"groups"`
	Purposes []usageGroup `json:"-"`
	Refused  int          `json:"-"` // calls that a budget did not allow
	Warned   int          `json:"-"` // warnings that a budget is nearly spent
	Days     string       `json:"-"`
}

// ownAgent is an agent that works in the world by itself.
type ownAgent struct {
	Name    string   `json:"name"`
	Does    string   `json:"does"`
	Trigger string   `json:"trigger"`
	On      bool     `json:"on"`
	Sees    string   `json:"audience"`
	Tools   []string `json:"tools"`
	Model   string   `json:"model"`
}

// budget is a limit on tokens and its use; a limit of 0 is none.
type budget struct {
	Name      string `json:"budget"`
	Hour      int    `json:"tokensHour"`
	HourLimit int    `json:"limitHour"`
	Day       int    `json:"tokensDay"`
	DayLimit  int    `json:"limitDay"`
}

type ownAgents struct {
	Agents  []ownAgent `json:"agents"`
	Budgets []budget   `json:"budgets"`
}

// agentRun is a run of an agent with its trace.
type agentRun struct {
	ID        string    `json:"run"`
	Agent     string    `json:"agent"`
	At        time.Time `json:"at"`
	Took      float64   `json:"durationMs"`
	Status    string    `json:"status"`
	Tokens    int       `json:"tokens"`
	Calls     []runCall `json:"calls"`
	Proposals []struct {
		ID     string `json:"proposalId"`
		Status string `json:"status"`
		Gate   string `json:"gate"`
	} `json:"proposals"`
}

type runCall struct {
	Operation string  `json:"operation"`
	Outcome   string  `json:"outcome"`
	Took      float64 `json:"durationMs"`
	Bytes     int     `json:"bytes"`
	Tokens    int     `json:"tokens"`
}

// agents holds the data of the page of agents. Lists that the person may not see are nil.
type agents struct {
	ownAgents
	Runs     []agentRun
	Keys     []programKey
	Standing []standing
	Usage    usage
	Prompts  []promptTemplate
	Admin    bool
	Approver bool
}

type promptTemplate struct {
	ID          string `json:"id"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

// showPrompt shows a prompt template, to be read.
func (s *server) showPrompt(v *visit) error {
	t, err := call[struct {
		Metadata promptTemplate `json:"metadata"`
		Template string         `json:"template"`
	}](v, "get-prompt", fields{"id": v.r.PathValue("id")})
	if err != nil {
		return err
	}
	return v.write(http.StatusOK, promptPage(v.frame(t.Metadata.ID), t.Metadata, t.Template))
}

// showAgents lists the agents and programs of a world, what passes without asking, and what models cost.
func (s *server) showAgents(v *visit) error {
	var a agents
	var err error
	if a.ownAgents, err = call[ownAgents](v, "list-agents", nil); err != nil {
		return err
	}
	ran, err := call[struct {
		Runs []agentRun `json:"runs"`
	}](v, "list-agent-runs", nil)
	if err != nil {
		return err
	}
	a.Runs = ran.Runs
	keys, err := call[keyList](v, "list_keys", nil)
	if a.Admin, err = allowed(err); err != nil {
		return err
	}
	for _, k := range keys.Keys {
		if k.Actor == "ai" {
			a.Keys = append(a.Keys, k)
		}
	}
	standings, err := call[struct {
		Standing []standing `json:"standing"`
	}](v, "list-standing-approvals", nil)
	if a.Approver, err = allowed(err); err != nil {
		return err
	}
	a.Standing = standings.Standing
	if a.Usage, err = call[usage](v, "get-ai-usage", fields{"groupBy": "purpose"}); err != nil {
		return err
	}
	prompts, err := call[struct {
		Prompts []promptTemplate `json:"prompts"`
	}](v, "list-prompts", nil)
	if err != nil {
		return err
	}
	a.Prompts = prompts.Prompts
	return v.write(http.StatusOK, agentsPage(v.frame("Agents"), a))
}

// allowed reports whether a call was allowed; a refusal is no error of the page.
func allowed(err error) (bool, error) {
	if errors.Is(err, fault.Denied) {
		return false, nil
	}
	return err == nil, err
}

// switchAgent switches an agent of the world on or off.
func (s *server) switchAgent(v *visit) error {
	in := fields{"agent": v.r.PostFormValue("agent"), "on": v.r.PostFormValue("on") == "true"}
	if _, err := call[struct{}](v, "switch-agent", in); err != nil {
		return err
	}
	return v.redirect(addressOf("agents", v.world))
}

// endStanding ends one standing approval, or all.
func (s *server) endStanding(v *visit) error {
	if _, err := call[struct{}](v, "end-standing-approvals", fields{}.with("id", v.r.PostFormValue("id"))); err != nil {
		return err
	}
	return v.redirect(addressOf("agents", v.world))
}

// showUsage shows the work of models in the last days, by day and by purpose.
func (s *server) showUsage(v *visit) error {
	days := map[string]int{"1": 1, "7": 7, "30": 30}
	asked := v.r.URL.Query().Get("days")
	n, known := days[asked]
	if !known {
		asked, n = "7", 7
	}
	since := time.Now().UTC().AddDate(0, 0, -n).Truncate(time.Minute).Format(time.RFC3339)
	by := "day"
	if n == 1 {
		by = "hour"
	}
	u, err := call[usage](v, "get-ai-usage", fields{"since": since, "groupBy": by})
	if err != nil {
		return err
	}
	purposes, err := call[usage](v, "get-ai-usage", fields{"since": since, "groupBy": "purpose"})
	if err != nil {
		return err
	}
	for event, n := range map[string]*int{"AI.Budget.Refused": &u.Refused, "AI.Budget.Warned": &u.Warned} {
		counted, err := call[usage](v, "get-ai-usage", fields{"since": since, "eventType": event})
		if err != nil {
			return err
		}
		*n = counted.Total.Count
	}
	u.Purposes, u.Days = purposes.Groups, asked
	return v.write(http.StatusOK, usagePage(v.frame("Usage"), u))
}

// game is a game of Alignment that the person hosts.
type game struct {
	ID      string `json:"game_id"`
	Phase   string `json:"phase"`
	Players int    `json:"players"`
	Day     int    `json:"day"`
	Page    string `json:"page"`
}

type gameList struct {
	Games   []game `json:"games"`
	Problem string `json:"-"`
	Link    string `json:"-"` // of a game that was just opened for others; shown once
}

func (s *server) showGames(v *visit) error { return v.writeGames(gameList{}, nil) }

func (v *visit) writeGames(shown gameList, problem error) error {
	list, err := call[gameList](v, "list_games", nil)
	if err != nil {
		return err
	}
	shown.Games = list.Games
	shown.Problem, _ = problemOf(problem)
	return v.write(statusOf(problem), gamesPage(v.frame("Games"), shown))
}

// changeGames opens a game, or makes the link that lets others join one.
func (s *server) changeGames(v *visit) error {
	var shown gameList
	var err error
	switch v.r.PathValue("do") {
	case "create":
		in := fields{}
		if n := v.r.PostFormValue("ai_players"); n != "" {
			in["ai_players"] = numberOf(n)
		}
		_, err = call[game](v, "create_game", in)
	case "invite":
		var made struct {
			Link string `json:"link"`
		}
		made, err = call[struct {
			Link string `json:"link"`
		}](v, "invite_player", fields{"id": v.r.PostFormValue("id")})
		if made.Link != "" {
			shown.Link = v.s.originOf(v.r) + made.Link
		}
	case "seat":
		return v.openSeat()
	default:
		err = errNothingHere
	}
	if problem, _ := problemOf(err); err != nil && problem == "" {
		return err
	}
	if err == nil && shown.Link == "" {
		return v.redirect(addressOf("games", v.world))
	}
	return v.writeGames(shown, err)
}

// openSeat takes a seat for the person, or opens the person's own seat anew if no name is given, and goes to the page
// to play on.
func (v *visit) openSeat() error {
	game, name := v.r.PostFormValue("id"), v.r.PostFormValue("name")
	if _, rest, ok := strings.Cut(game, "/play/"); ok { // the address of the page
		game, _, _ = strings.Cut(rest, "#")
	}
	operation, in := "join_game", fields{"id": game, "name": name}
	if name == "" {
		operation, in = "reissue_seat", fields{"id": game, "player_id": "mine"}
	}
	made, err := call[struct {
		Token string `json:"token"`
		Link  string `json:"link"`
	}](v, operation, in)
	switch problem, _ := problemOf(err); {
	case problem != "":
		return v.writeGames(gameList{}, err)
	case err == nil && made.Token == "":
		return v.writeGames(gameList{}, fault.New(fault.Rule, "a program plays this seat; get its new key over REST"))
	case err != nil:
		return err
	}
	return v.redirect(made.Link)
}

// backup is a copy of the instance.
type backup struct {
	Name    string    `json:"filename"`
	Size    string    `json:"size_human"`
	Created time.Time `json:"created_at"`
}

type backupList struct {
	Backups []backup `json:"backups"`
	Folder  string   `json:"backup_dir"`
}

// health is the state of the instance.
type health struct {
	Store    string `json:"store"`
	Findings []struct {
		Check string `json:"check"`
		Good  bool   `json:"good"`
		Text  string `json:"text"`
	} `json:"findings"`
	Limits []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"limits"`
	backupList
}

// showHealth shows the findings, limits and backups of the instance, for its operator.
func (s *server) showHealth(v *visit) error {
	h, err := call[health](v, "get_health", nil)
	if err != nil {
		return err
	}
	if h.backupList, err = call[backupList](v, "list_backups", nil); err != nil {
		return err
	}
	return v.write(http.StatusOK, healthPage(v.frame("Health"), h))
}

func (s *server) verifyStore(v *visit) error {
	if _, err := call[struct{}](v, "verify_store", nil); err != nil {
		return err
	}
	return v.redirect("/health")
}

func (s *server) createBackup(v *visit) error {
	if _, err := call[struct{}](v, "create_backup", nil); err != nil {
		return err
	}
	return v.redirect("/health")
}

// rawFields encodes values by name.
func rawFields(values map[string]any) map[string]json.RawMessage {
	raw := map[string]json.RawMessage{}
	for name, value := range values {
		raw[name], _ = json.Marshal(value) // of decoded JSON
	}
	return raw
}
