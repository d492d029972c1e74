package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/agent"
	"loregate/internal/archive"
	"loregate/internal/blob"
	"loregate/internal/body"
	"loregate/internal/bound"
	"loregate/internal/campaign"
	"loregate/internal/canon"
	"loregate/internal/disk"
	"loregate/internal/event"
	"loregate/internal/exchange/native"
	"loregate/internal/exchange/unpack"
	"loregate/internal/exchange/vault"
	"loregate/internal/fault"
	"loregate/internal/game"
	"loregate/internal/identity"
	"loregate/internal/job"
	"loregate/internal/member"
	"loregate/internal/op"
	"loregate/internal/outbound"
	"loregate/internal/prompt"
	"loregate/internal/proposal"
	"loregate/internal/rules"
	"loregate/internal/studio"
	"loregate/internal/telemetry"
	"loregate/internal/usage"
	"loregate/internal/vector"
	"loregate/internal/world"
	"loregate/internal/world/play"
)

// Website is the home page of the product.
const Website = "https://loregate.example"

// Options are the parameters of Open that are not configuration.
type Options struct {
	Version string
	Profile string // limits profile of callers that have none; "" is the default one
	Now     func() time.Time
	CPU     func() time.Duration           // processor time of the process, for the limits of work; nil is access.ProcessTime
	NewID   func(purpose string) uuid.UUID // purpose is a stream, or the name of a use; nil draws UUIDv7
	Random  func([]byte)                   // randomness of games; nil is crypto/rand
	Secrets func([]byte)                   // randomness of new keys of the store; nil is crypto/rand
	Logger  *slog.Logger
	// Existing refuses a place without a store, instead of making a new one there.
	Existing bool
	Damaged  bool // a data folder is not checked for damage, because it is only read
	Command  bool // calls wait for databases of worlds that are being opened; those of a server are refused
	// Deterministic makes background work independent of the machine's clock: a job ends before the call
	// that starts it is answered, no phase of a game ends by itself, and pending usage figures are
	// written only by FlushUsage. It is for tests that compare answers.
	Deterministic bool
	// Outbound requests addresses that callers and clients name. Tests serve them from this process.
	Outbound outbound.Config
	// NoAnswerCache disables the cache of answers. It is for tests that compare cached answers with
	// computed ones.
	NoAnswerCache bool
}

func (o Options) processTime() func() time.Duration {
	switch {
	case o.CPU != nil:
		return o.CPU
	case o.Deterministic:
		return func() time.Duration { return 0 }
	}
	return access.ProcessTime
}

// idGenerator returns a function that draws ids for a purpose.
func (o Options) idGenerator(purpose string) func() uuid.UUID {
	return func() uuid.UUID { return o.NewID(purpose) }
}

// App is the product with all its parts. The caller must close it.
type App struct {
	Config   Config
	Version  string
	Canon    *canon.Canon
	Identity *identity.Service
	Guard    *access.Guard
	Ops      *op.Local
	Surfaces []op.Surface
	// Proposals judges proposals.
	Proposals *proposal.Service
	// Agents classify utterances, moderate texts, and give places ambience.
	Agents *agent.Agents
	Studio *studio.Studio

	blobs  *blob.Store
	bodies *body.Intake // of a server
	record *os.File     // recorded exchanges with an Unreal editor; nil if not recorded
	Events *event.Dispatcher
	places *world.World
	host   *play.Host
	rules  *rules.Service
	games  *game.Service

	ranAgent func(AgentRun) // see WatchAgents

	prompts *prompt.Registry
	model   *tiered // nil if none is configured
	usage   *usage.Recorder

	store      store
	unpacked   *unpack.Space // unpacked files of imports
	imports    *bound.Pool   // memory of imports
	checkState storeCheckState
	// lostStreams is the number of streams that the Canon refuses because commits of them are lost.
	lostStreams atomic.Int64
	log         *access.Log
	limits      *access.Limits
	jobs        *job.Runner
	metrics     *telemetry.Metrics
	tracing     *telemetry.Tracing
	logger      *slog.Logger
	still       bool           // Options.Deterministic
	vectors     *vector.Keeper // nil without an embedding model
	now         func() time.Time
	secrets     func([]byte)
}

// Open opens the data folder, creates it if it does not exist, and assembles the parts. It does not
// listen yet.
func Open(ctx context.Context, c Config, o Options) (a *App, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.NewID == nil {
		o.NewID = func(string) uuid.UUID { return uuid.Must(uuid.NewV7()) }
	}
	a = &App{Config: c, Version: o.Version, logger: o.Logger, now: o.Now, secrets: o.Secrets, still: o.Deterministic,
		imports: bound.NewPool(int64(c.Memory) << 20)}
	defer func() {
		if err != nil {
			a.Close(context.WithoutCancel(ctx))
		}
	}()
	if c.Database != "" || !o.Existing {
		if err := makeFolder(c.Data, syncFolder); err != nil {
			return a, fmt.Errorf("data folder: %w", disk.Explain(c.Data, err))
		}
	}
	a.unpacked = unpack.NewSpace(filepath.Join(c.Data, "unpacked"), unpackedBytes)
	if a.store, err = openStore(ctx, c, o); err != nil {
		return a, err
	}
	a.metrics = telemetry.NewMetrics(labelsOf(nil))
	if err := a.openVectors(); err != nil {
		return a, err
	}
	a.Canon = canon.New(canon.Config{Store: meteredStore{a.store, a.metrics}, Now: o.Now, TextsOf: world.TextsOfPlayer,
		Retitle: campaign.Retitle,
		NewID:   func(s canon.StreamID) uuid.UUID { return o.NewID(string(s)) }, Ledgers: map[string][]string{
			studio.Ledger: {studio.Surface}, proposal.LedgerKind: {canon.AnySurface}, usage.LedgerKind: {canon.AnySurface},
			game.Ledger: {game.Surface, game.PlaySurface}, rules.Ledger: {canon.AnySurface}, member.LedgerKind: {canon.AnySurface},
		}, Nearness: a.nearness(), Witnesses: witnesses{a}})
	if a.store.Confined() != "" {
		if err := a.refuseLostStreams(ctx, a.store); err != nil {
			return a, err
		}
	}
	if err := a.openAccess(ctx, c, o); err != nil {
		return a, err
	}
	if a.tracing, err = telemetry.NewTracing(ctx, telemetry.TraceConfig{Endpoint: c.Tracing.Endpoint,
		Sample: c.Tracing.Sample, Version: o.Version}); err != nil {
		return a, err
	}
	if a.jobs, err = job.New(ctx, job.Config{Store: a.store, Now: o.Now, NewID: o.idGenerator("job"),
		Logger: o.Logger, Inline: o.Deterministic}); err != nil {
		return a, err
	}
	if err := a.openSurfaces(ctx, c, o); err != nil {
		return a, err
	}
	return a, a.rebuildStale(ctx)
}

// openAccess creates the parts that authenticate and limit callers, and the access log.
func (a *App) openAccess(ctx context.Context, c Config, o Options) (err error) {
	profiles := map[string]access.Profile{access.ProfileDefault: c.Limits.defaultProfile()}
	if o.Profile != "" && o.Profile != access.ProfileSample {
		// Its rates come from SampleDefaults, which a configuration overrides.
		maps.Copy(profiles[access.ProfileDefault], access.DefaultProfiles()[o.Profile])
	}
	if profiles[access.ProfileDefault][access.ClassCall].PerMinute < 0 {
		profiles[access.ProfileConsole] = profiles[access.ProfileDefault] // calls are not limited
	}
	a.limits = access.NewLimits(access.LimitConfig{Profiles: profiles}, o.Now)
	a.log, err = access.NewLog(access.LogConfig{Store: a.store, Seen: a.store, Process: o.NewID("process").String(),
		Capacity: c.Audit.Buffer, Now: o.Now, Logger: o.Logger})
	if err != nil {
		return err
	}
	a.Guard = access.NewGuard(access.Config{Limiter: meteredLimits{a.limits, a.metrics}, Recorder: a.log, Now: o.Now,
		CPU: o.processTime(), Logger: o.Logger})
	outside, err := c.Issuers.toIdentity()
	if err != nil {
		return err
	}
	if err := c.Issuers.readSecrets(outside); err != nil {
		return err
	}
	clients, err := a.sharedSecret(ctx, clientSecret, sha256.Size)
	if err != nil {
		return err
	}
	var documents *outbound.Client
	if c.Fetch.Clients {
		documents = outbound.New(o.Outbound)
	}
	a.Identity, err = identity.New(identity.Config{
		Store: a.store.Identity(), Worlds: worlds{a.Canon}, Joiner: joiner{a},
		Issuer: c.Token.Issuer, Audiences: c.tokenAudiences(), Life: c.Token.Life,
		ClientSecret: clients, AllowKeyAsBearer: c.keyAsBearer(), Outside: outside, Now: o.Now, Logger: o.Logger,
		Documents: documents, Limiter: meteredLimits{a.limits, a.metrics},
		NewID: func() string { return o.NewID("identity").String() },
	})
	return err
}

// tokenAudiences returns the audience of tokens: the configured one, else the public address, else
// "loregate".
func (c Config) tokenAudiences() []string {
	for _, a := range []string{c.Token.Audience, c.PublicURL} {
		if a != "" {
			return []string{a}
		}
	}
	return []string{"loregate"}
}

func (a *App) openSurfaces(ctx context.Context, c Config, o Options) error {
	secret, err := a.sharedSecret(ctx, "read tags", sha256.Size)
	if err != nil {
		return err
	}
	tags := op.ReadTags{Secret: secret}
	wiki, err := archive.New(archive.Config{Canon: a.Canon, Jobs: a.jobs, Backup: a.store, Data: c.Data, Tags: tags,
		Fetch: c.Fetch.Hosts, Outbound: outbound.New(o.Outbound), Logger: a.logger, Instance: a,
		IsMemory: native.IsSourceCard, Memories: readMemories, HoldsMarks: vault.HoldsMarks})
	if err != nil {
		return err
	}
	a.Surfaces = []op.Surface{wiki}
	if err := a.openModel(); err != nil {
		return err
	}
	if err := a.openRules(ctx, o); err != nil {
		return err
	}
	if err := a.openWorld(ctx); err != nil {
		return err
	}
	if err := a.openUsage(o); err != nil {
		return err
	}
	if err := a.openProposals(ctx, o); err != nil {
		return err
	}
	if err := a.openAgents(); err != nil {
		return err
	}
	if err := a.openStudio(ctx, o); err != nil {
		return err
	}
	if err := a.openCampaign(tags); err != nil {
		return err
	}
	if err := a.openGames(ctx, o); err != nil {
		return err
	}
	a.Surfaces = append(a.Surfaces, a.rules.Surface())
	a.openMembers()
	a.openTransfer(o)
	tools := a.openFront(o)
	a.metrics.AllowLabels(labelsOf(a.Surfaces))
	if err := a.measureQueues(); err != nil {
		return err
	}
	ops := op.Config{Guard: a.Guard, Surfaces: a.Surfaces, Worlds: worlds{a.Canon}, Diverter: a.Proposals,
		Refuse: a.Agents.Refuse, Observer: observer{
			a.metrics,
			a.tracing,
		}, GMManages: worlds{a.Canon}.gmManages, Near: a.similarNames,
		WorldState: a.readWorldState, CacheBytes: a.Config.keptBytes()}
	if o.NoAnswerCache {
		ops.WorldState = nil
	}
	if a.Ops, err = op.NewLocal(ops); err != nil {
		return err
	}
	tools.Connect(a.Ops)
	return nil
}

func labelsOf(surfaces []op.Surface) telemetry.Labels {
	l := telemetry.Labels{Runs: []string{"ok", "error"}, Codes: []string{"ok"}, Queues: []string{"jobs", "events"},
		Purposes: usage.Purposes()}
	for k := fault.Internal; k <= fault.Unavailable; k++ {
		l.Codes = append(l.Codes, k.Code())
	}
	for _, c := range []access.Class{access.ClassCall, access.ClassResource, access.ClassList, access.ClassPage,
		access.ClassTools, access.ClassWrite, access.ClassAuth, access.ClassCommand, access.ClassPlayers, access.ClassWork,
		access.ClassGMWork} {
		l.Limits = append(l.Limits, string(c))
	}
	for _, s := range surfaces {
		l.Surfaces = append(l.Surfaces, s.Name)
		for _, o := range s.Operations {
			l.Operations = append(l.Operations, o.Name)
		}
	}
	return l
}

// Close stops all parts, in reverse order of their creation, and waits for them. It may be called
// on an App that Open did not complete.
func (a *App) Close(ctx context.Context) {
	a.closeGames()
	studioErr := a.closeStudio()
	if a.Agents != nil {
		a.Agents.Close()
	}
	if a.jobs != nil {
		a.jobs.Close()
	}
	if a.Identity != nil {
		a.Identity.Close()
	}
	errs := []error{studioErr}
	if a.usage != nil {
		errs = append(errs, a.usage.Close(ctx))
	}
	if a.log != nil {
		errs = append(errs, a.log.Close(ctx))
	}
	errs = append(errs, a.tracing.Close(ctx))
	if a.store != nil {
		errs = append(errs, a.store.Close())
	}
	if err := errors.Join(errs...); err != nil {
		a.logger.Error("closing", "error", err)
	}
}

// Ready returns an error if the store does not answer or refuses writes.
func (a *App) Ready(ctx context.Context) error {
	if _, err := a.Canon.Worlds(ctx); err != nil {
		return err
	}
	return a.store.Writable(ctx)
}

// Operator returns the caller of the local command line. It may do everything, since a person who
// may run the program on the data folder could also open its files.
func Operator() access.Caller {
	return access.Caller{Subject: "local", Actor: access.Person, EveryRole: access.RoleAdmin, Operator: true,
		Approve: true, Unlimited: true}
}

// Local returns the caller of a local client, whose highest role is role.
func Local(role access.Role) access.Caller {
	return access.Caller{Subject: access.Subject("local-" + role.String()), Actor: access.AI, EveryRole: role,
		Unlimited: true}
}

// WithGrant runs f with a grant for one request of the command line in a world (the zero id for the
// instance), and records the request.
func (a *App) WithGrant(ctx context.Context, c access.Caller, r access.Request, f func(access.Grant) error) error {
	r.Correlation = uuid.Must(uuid.NewV7()).String()
	return runAdmitted(ctx, a.Guard, c, r, f)
}

// runAdmitted runs f with the grant of a request that guard admits, and records the request.
func runAdmitted(ctx context.Context, guard *access.Guard, c access.Caller, r access.Request,
	f func(access.Grant) error) error {
	ad, err := guard.Admit(ctx, c, r)
	if err != nil {
		return err
	}
	err = f(ad.Grant)
	ad.Done(ctx, 0, err)
	return err
}

// worlds gives op and identity access to the canon's worlds.
type worlds struct{ canon *canon.Canon }

func (w worlds) Memberships(ctx context.Context, s access.Subject) ([]identity.Membership, error) {
	members, err := w.canon.Memberships(ctx, s)
	list := make([]identity.Membership, len(members))
	for i, m := range members {
		list[i] = identity.Membership{World: m.World, Subject: m.Subject, Role: m.Role, May: m.May,
			Player: uuid.UUID(m.Player)}
	}
	return list, err
}

func (w worlds) FindWorld(ctx context.Context, text string) (access.WorldID, bool, error) {
	if id, err := uuid.Parse(text); err == nil {
		found, err := w.canon.World(ctx, access.WorldID(id))
		if errors.Is(err, fault.NotFound) {
			return access.WorldID{}, false, nil
		}
		return found.ID, err == nil, err
	}
	found, ok, err := w.canon.WorldBySlug(ctx, text)
	return found.ID, ok, err
}

func (w worlds) Resolve(ctx context.Context, c access.Caller, name string) (access.WorldID, error) {
	id, ok, err := w.FindWorld(ctx, name)
	if err != nil {
		return id, err
	}
	if !ok || c.Role(id) == access.RoleNone {
		return access.WorldID{}, fault.New(fault.NotFound, "no such world for this key; ask for a world that the key opens")
	}
	return id, nil
}

func (w worlds) Names(ctx context.Context, c access.Caller) ([]string, error) {
	all, err := w.canon.Worlds(ctx)
	var names []string
	for _, world := range all {
		if c.Role(world.ID) > access.RoleNone {
			names = append(names, world.Slug)
		}
	}
	return names, err
}

// gmManages reports whether game masters manage the cards of a world, or for the zero id those of some world.
func (w worlds) gmManages(id access.WorldID) bool {
	all, err := w.canon.Worlds(context.Background()) // the call that follows waits for the store, or fails
	return err == nil && slices.ContainsFunc(all, func(one canon.World) bool {
		return (one.ID == id || id.IsZero()) && one.Settings.ManagerRole() == access.RoleGM
	})
}

// joiner makes the subject who accepts an invitation a member, in the name of the subject who
// invited them.
type joiner struct{ app *App }

func (j joiner) Join(ctx context.Context, m identity.Membership, invitedBy access.Subject) error {
	by := access.Caller{Subject: invitedBy, EveryRole: access.RoleAdmin, Unlimited: true}
	r := access.Request{Operation: "accept_invitation", Effect: access.Write, MinRole: access.RoleAdmin, World: m.World}
	return j.app.WithGrant(ctx, by, r, func(g access.Grant) error {
		_, err := j.app.Canon.Update(ctx, g, func(p *canon.Plan) error {
			return p.SetMember(canon.MemberImage{Subject: m.Subject, Role: m.Role, May: m.May, Player: canon.CardID(m.Player)})
		})
		return err
	})
}

// observer measures and traces calls for op.
type observer struct {
	metrics *telemetry.Metrics
	tracing *telemetry.Tracing
}

func (o observer) StartCall(ctx context.Context, _, surface, operation string) (context.Context, func(string, int)) {
	started := time.Now()
	ctx, end := o.tracing.Root(ctx, operation, nil)
	return ctx, func(outcome string, _ int) {
		o.metrics.Call(operation, surface, outcome, time.Since(started))
		end(outcomeError(outcome))
	}
}

func outcomeError(outcome string) error {
	if outcome == "ok" {
		return nil
	}
	return errors.New(outcome)
}

// metricsHandler serves the metrics.
func (a *App) metricsHandler() http.Handler { return a.metrics.Handler() }

// similarNames returns up to three names visible to the grant that resemble a text.
func (a *App) similarNames(ctx context.Context, g access.Grant, text string) (names []string) {
	_ = a.Canon.Read(ctx, g, func(s *canon.Snapshot) (err error) { // without the hint, the answer only lacks suggestions
		names, err = s.Near(ctx, text, 3)
		return err
	})
	return names
}
