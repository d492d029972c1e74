package app

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"loregate/internal/access"
	"loregate/internal/decoded"
	"loregate/internal/markup"
)

// Config holds all settings. A setting's path in the file is its yaml names joined by dots; its
// environment variable is LOREGATE_ and that path in capitals with underscores. docs/config.md is
// generated from the doc tags.
type Config struct {
	Addr        string    `yaml:"addr" default:"127.0.0.1:8420" doc:"Address that serve listens on."`
	Data        string    `yaml:"data" default:"./loregate-data" doc:"Folder of the store."`
	Database    string    `yaml:"database" doc:"Address of a PostgreSQL database that replaces the store in data, and that several processes can share: postgres://user@host:5432/name. If it is on several servers, a primary and its standbys, name them all: postgres://user@db1:5432,db2:5432,db3:5432/name?target_session_attrs=read-write. Put its password into LOREGATE_DATABASE, PGPASSWORD or ~/.pgpass, not on a command line."`
	Direct      string    `yaml:"database_direct" doc:"Address of the PostgreSQL servers themselves, if database is an address of PgBouncer. Writes, notifications and migrations use it."`
	Standbys    bool      `yaml:"database_standbys" doc:"Make exports and build search indexes from a standby, if database names several servers. The standby must have replayed all that was written before; otherwise the primary is read."`
	Databases   []string  `yaml:"databases" doc:"Further PostgreSQL databases that hold worlds, each as name=postgres://user@host:5432/name. database is then the home database, which holds everything else. All processes need the same names. See operations.md."`
	DirectTo    []string  `yaml:"databases_direct" doc:"Addresses of the servers of databases that databases names by an address of PgBouncer, each as name=postgres://user@host:5432/name: as database_direct for the home database."`
	Worlds      []string  `yaml:"worlds" doc:"Databases of new worlds by their short names, each as pattern=name, such as campaign-*=east. The first match decides; without one, a world is created in the home database, whose name is home."`
	Pool        Pool      `yaml:"pool"`
	Memory      int       `yaml:"memory" default:"224" doc:"Memory limit of the process in MiB, without its own code; at least 64. Three eighths are page caches of the store in data. The rest is a soft limit of the heap, which grows beyond it if necessary. If GOMEMLIMIT is set, it limits the heap instead."`
	PublicURL   string    `yaml:"public_url" doc:"Address at which clients reach the server, if it is not addr: https://lore.example. It is used in metadata and links."`
	BehindProxy bool      `yaml:"behind_proxy" doc:"A proxy in front of the server terminates TLS. Without behind_proxy or tls, serve refuses an address that other machines can reach."`
	Proxies     []string  `yaml:"trusted_proxies" doc:"Addresses or ranges of the proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted, with behind_proxy: 10.0.0.7, fd00::/64. Default: loopback. Name the proxy alone, and no network that other machines share: each of these can give itself any address."`
	TLS         TLS       `yaml:"tls"`
	Hosts       []string  `yaml:"allowed_hosts" doc:"Host names that requests may use, in addition to addr, public_url and the loopback names."`
	Origins     []string  `yaml:"allowed_origins" doc:"Web origins whose pages may call the server, such as https://host."`
	AllowFrom   []string  `yaml:"allow_from" doc:"Address ranges that may use the API, such as 10.0.0.0/8. Empty: all."`
	KeyAsBearer string    `yaml:"allow_key_as_bearer" default:"auto" doc:"Accept an API key as bearer token on /mcp and /api: yes, no, or auto, which means yes on loopback without a proxy."`
	Token       Token     `yaml:"token"`
	Issuers     Issuers   `yaml:"issuers" doc:"Outside issuers whose tokens are accepted too, such as Entra ID, Auth0 and Keycloak. A list; see below."`
	Limits      Limits    `yaml:"limits"`
	Bodies      Bodies    `yaml:"bodies"`
	Drain       Drain     `yaml:"drain"`
	Audit       Audit     `yaml:"audit"`
	Witness     Witness   `yaml:"witness"`
	Log         Log       `yaml:"log"`
	Tracing     Tracing   `yaml:"tracing"`
	Metrics     Metrics   `yaml:"metrics"`
	Admin       Admin     `yaml:"admin"`
	Import      Import    `yaml:"import"`
	Fetch       Fetch     `yaml:"fetch"`
	Proposals   Proposals `yaml:"proposals"`
	Budgets     Budgets   `yaml:"budgets"`
	Agents      Agents    `yaml:"agents"`
	Studio      Studio    `yaml:"studio"`
	Files       Files     `yaml:"files"`
	Lore        Lore      `yaml:"lore"`
	Embedding   Embedding `yaml:"embedding"`
	Model       Model     `yaml:"model"`
	Narration   Narration `yaml:"narration"`
}

// Fetch holds the settings for requests to other servers on behalf of callers.
type Fetch struct {
	Hosts   []string `yaml:"hosts" doc:"Hosts that upload_from_url may fetch files from, over HTTPS, at public addresses and without following redirects. Empty: none."`
	Clients bool     `yaml:"clients" doc:"Fetch the documents by which MCP clients say who they are (client id metadata documents), over HTTPS, at public addresses and without following redirects, when a person lets such a client in. Set it only if the server reaches the internet: Claude Code, Codex and others then use a document and do not register."`
}

// TLS names the files of the server's own certificate.
type TLS struct {
	Cert string `yaml:"cert" doc:"File with the certificate chain, PEM."`
	Key  string `yaml:"key" doc:"File with the private key, PEM."`
}

// Token holds the settings of the access tokens that the server issues.
type Token struct {
	Issuer   string        `yaml:"issuer" default:"loregate" doc:"The iss claim of tokens, and the only one accepted."`
	Audience string        `yaml:"audience" doc:"The aud claim of tokens. Default: public_url, or loregate."`
	Life     time.Duration `yaml:"life" default:"30m" doc:"Lifetime of a token, 15m to 60m."`
}

// Limits are the rate limits of a caller; 0 keeps the default, -1 means no limit.
type Limits struct {
	Calls       int `yaml:"calls" default:"60" doc:"Tool and REST calls per minute."`
	CallsBurst  int `yaml:"calls_burst" default:"10" doc:"Tool and REST calls within one second."`
	Resources   int `yaml:"resources" default:"100" doc:"Resource reads per minute."`
	Lists       int `yaml:"lists" default:"300" doc:"First pages of lists per minute: resources, templates, prompts."`
	ListPages   int `yaml:"list_pages" default:"600" doc:"Further pages of any list per minute."`
	ToolLists   int `yaml:"tool_lists" default:"300" doc:"First pages of the list of tools per minute. They have their own limit, so that other lists cannot use it up."`
	Writes      int `yaml:"writes" default:"20" doc:"Writes per minute."`
	Commands    int `yaml:"commands" default:"120" doc:"Commands per minute of each player, and in games and encounters of each key. Each player's actions have further limits."`
	Players     int `yaml:"players" default:"6000" doc:"Commands and reads per minute of all players together for whom one key plays, and a sixtieth of it within one second. A call that names a player by id has the player's limits, not the key's."`
	Auth        int `yaml:"auth" default:"10" doc:"Token requests per minute for each key and each grant of a client, and wrong keys and tokens per minute for each address."`
	Work        int `yaml:"work" default:"20" doc:"Seconds of processor time per minute that the calls of each key may take, half of them at once after a rest; one core has 60. A key that took more is answered with 429 until they have passed. The operator has no such limit."`
	GMWork      int `yaml:"gm_work" default:"40" doc:"The same for the calls in worlds in which the key is a GM's or an admin's."`
	Connections int `yaml:"connections" default:"4096" doc:"Open connections of all callers together; further ones are answered with 503. 0: the default. -1: no limit."`
	PerAddress  int `yaml:"connections_per_address" doc:"Open connections from one address (for IPv6 its /64), and concurrent requests and streams from it. Behind a proxy, the address is the one that the proxy names. Default: an eighth of limits.connections, at least 16. -1: no limit."`
}

// Audit configures the buffer of access records, and content in logs.
type Audit struct {
	Buffer       int  `yaml:"buffer" default:"16384" doc:"Access records that may wait until they are durable. If the buffer is full, calls are refused."`
	DebugContent bool `yaml:"debug_content" doc:"Log attributes that may contain content. Use it only to find a fault; a warning is logged at the start."`
}

// Log holds the level and format of the process's log.
type Log struct {
	Level  string `yaml:"level" default:"info" doc:"debug, info, warn or error."`
	Format string `yaml:"format" default:"text" doc:"text or json."`
}

// Tracing holds the collector of traces and the share of calls that are traced.
type Tracing struct {
	Endpoint string  `yaml:"endpoint" doc:"URL of an OTLP/HTTP collector, such as http://127.0.0.1:4318. Empty: no traces."`
	Sample   float64 `yaml:"sample" default:"1" doc:"Share of calls that are traced, 0 to 1."`
}

// Metrics controls access to /metrics.
type Metrics struct {
	Public bool `yaml:"public" doc:"Serve /metrics to every address, not only to loopback and operators."`
}

// Import holds the settings for importing vaults.
type Import struct {
	GMFolders []string `yaml:"gm_folders" doc:"Folders of a Markdown vault whose notes are only for the GM, by name at any depth or by path, in addition to those that look secret (loregate import --explain). If a folder does not exist, the import stops."`
}

// Default is another default of the setting at Path, for one way to start the server.
type Default struct{ Path, Value string }

// SampleDefaults returns the defaults of serve --sample: limits at which a person can play.
func SampleDefaults() []Default {
	calls := access.DefaultProfiles()[access.ProfileSample][access.ClassCall]
	return []Default{{"limits.calls", strconv.Itoa(calls.PerMinute)}}
}

// LoadConfig reads the defaults, then the file ("" for none), then the environment (in the form of
// os.Environ); a later source overrides an earlier one. It refuses unknown keys, naming the nearest
// known key, and unreadable values. The file is strict YAML.
func LoadConfig(file string, environ []string, defaults ...Default) (Config, error) {
	var c Config
	byPath := map[string]string{}
	for _, d := range defaults {
		byPath[d.Path] = d.Value
	}
	err := eachSetting(&c, func(s setting) error {
		if value, ok := byPath[s.path]; ok {
			return s.set(value)
		}
		return s.set(s.fallback)
	})
	if err != nil {
		return c, fmt.Errorf("defaults: %w", err)
	}
	if file != "" {
		if err := readFile(file, &c); err != nil {
			return c, err
		}
	}
	if err := readEnv(environ, &c); err != nil {
		return c, err
	}
	return c, c.Check()
}

// Check returns an error for the first setting with an invalid value.
func (c Config) Check() error {
	if _, _, err := net.SplitHostPort(c.Addr); err != nil {
		return fmt.Errorf("addr: %q does not have the form host:port; write it as 127.0.0.1:8420", c.Addr)
	}
	if c.Database != "" && !isDatabase(c.Database) {
		return fmt.Errorf("database: write postgres://user@host:5432/name")
	}
	if c.Direct != "" && (c.Database == "" || !isDatabase(c.Direct)) {
		return fmt.Errorf("database_direct: write postgres://user@host:5432/name, and set database to PgBouncer's address")
	}
	if err := c.validateDatabases(); err != nil {
		return err
	}
	if c.Token.Life < 15*time.Minute || c.Token.Life > time.Hour {
		return fmt.Errorf("token.life: %s is not between 15m and 60m; set a duration such as 30m", c.Token.Life)
	}
	switch c.KeyAsBearer {
	case "auto", "yes", "no":
	default:
		return fmt.Errorf("allow_key_as_bearer: %q is not a value of this setting; set yes, no or auto", c.KeyAsBearer)
	}
	if (c.TLS.Cert == "") != (c.TLS.Key == "") {
		return fmt.Errorf("tls: cert and key must be set together; set the missing one")
	}
	for _, r := range c.AllowFrom {
		if _, err := netip.ParsePrefix(r); err != nil {
			return fmt.Errorf("allow_from: %q is not an address range; write it as 10.0.0.0/8", r)
		}
	}
	if _, err := c.parseProxies(); err != nil {
		return err
	}
	if err := c.Pool.validate(); err != nil {
		return err
	}
	if c.Memory < minMemory {
		return fmt.Errorf("memory: %d MiB are too few; set at least %d", c.Memory, minMemory)
	}
	if err := c.Bodies.validate(); err != nil {
		return err
	}
	if err := c.Drain.validate(); err != nil {
		return err
	}
	if err := c.Witness.validate(); err != nil {
		return err
	}
	if err := c.Files.validate(); err != nil {
		return err
	}
	if err := c.Admin.validate(); err != nil {
		return err
	}
	if _, err := c.Issuers.toIdentity(); err != nil {
		return err
	}
	for _, i := range c.Issuers {
		if u, err := url.Parse(c.PublicURL); i.ClientID != "" && (err != nil || u.Host == "") {
			return fmt.Errorf("public_url: set it; the issuer %q sends people who sign in back to that address", i.Name)
		}
	}
	if err := c.Model.validate(); err != nil {
		return err
	}
	if err := c.Agents.validate(); err != nil {
		return err
	}
	if err := c.Narration.validate(); err != nil {
		return err
	}
	if err := c.Embedding.validate(); err != nil {
		return err
	}
	if c.Tracing.Sample < 0 || c.Tracing.Sample > 1 {
		return fmt.Errorf("tracing.sample: %v is not between 0 and 1; set a share such as 0.1", c.Tracing.Sample)
	}
	return nil
}

// Loopback reports whether addr can be reached from this machine only.
func (c Config) Loopback() bool {
	_, _, err := net.SplitHostPort(c.Addr)
	return err == nil && isLoopback(c.Addr)
}

// keyAsBearer reports whether an API key is accepted as a bearer token. It resolves "auto": behind
// a proxy, others can reach a loopback address too.
func (c Config) keyAsBearer() bool {
	return c.KeyAsBearer == "yes" || (c.KeyAsBearer == "auto" && c.Loopback() && !c.BehindProxy)
}

// defaultProfile returns the limits profile of callers that have no other.
func (l Limits) defaultProfile() access.Profile {
	return access.Profile{
		access.ClassCall:     {PerMinute: l.Calls, PerSecond: max(l.CallsBurst, 0)},
		access.ClassResource: {PerMinute: l.Resources},
		access.ClassList:     {PerMinute: l.Lists},
		access.ClassPage:     {PerMinute: l.ListPages},
		access.ClassTools:    {PerMinute: l.ToolLists},
		access.ClassWrite:    {PerMinute: l.Writes},
		access.ClassAuth:     {PerMinute: l.Auth},
		access.ClassCommand:  {PerMinute: l.Commands, PerSecond: 10},
		access.ClassPlayers:  {PerMinute: l.Players, PerSecond: max(l.Players/60, 0)},
		access.ClassWork:     access.WorkRate(l.Work),
		access.ClassGMWork:   access.WorkRate(l.GMWork),
	}
}

// setting is one leaf of Config.
type setting struct {
	path     string // "token.life"
	variable string // "LOREGATE_TOKEN_LIFE"
	fallback string
	doc      string
	value    reflect.Value
}

func (s setting) set(text string) error {
	v := s.value
	var err error
	switch v.Interface().(type) {
	case string, Secret:
		v.SetString(text)
	case bool:
		var b bool
		if b, err = strconv.ParseBool(cmp.Or(text, "false")); err == nil {
			v.SetBool(b)
		}
	case int:
		var n int
		if n, err = strconv.Atoi(cmp.Or(text, "0")); err == nil {
			v.SetInt(int64(n))
		}
	case float64:
		var f float64
		if f, err = strconv.ParseFloat(cmp.Or(text, "0"), 64); err == nil {
			v.SetFloat(f)
		}
	case time.Duration:
		var d time.Duration
		if d, err = time.ParseDuration(cmp.Or(text, "0s")); err == nil {
			v.SetInt(int64(d))
		}
	case []string:
		v.Set(reflect.ValueOf(commaList(text)))
	case Issuers:
		if err := v.Addr().Interface().(*Issuers).readText(text); err != nil {
			return fmt.Errorf("%s: %w", s.path, err)
		}
	default:
		err = fmt.Errorf("unsupported type %s", v.Type())
	}
	if err != nil {
		return fmt.Errorf("%s: %q cannot be read as %s", s.path, text, kindName(v.Interface()))
	}
	return nil
}

func commaList(text string) []string {
	var list []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

func kindName(v any) string {
	switch v.(type) {
	case bool:
		return "true or false"
	case int, float64:
		return "a number"
	case time.Duration:
		return "a duration such as 30m"
	case []string:
		return "a list"
	}
	return "text"
}

// eachSetting calls f for every leaf of c, in order.
func eachSetting(c *Config, f func(setting) error) error {
	return eachField(reflect.ValueOf(c).Elem(), "", f)
}

func eachField(v reflect.Value, prefix string, f func(setting) error) error {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		path := prefix + field.Tag.Get("yaml")
		if field.Type.Kind() == reflect.Struct {
			if err := eachField(v.Field(i), path+".", f); err != nil {
				return err
			}
			continue
		}
		s := setting{path: path, fallback: field.Tag.Get("default"), doc: field.Tag.Get("doc"), value: v.Field(i),
			variable: "LOREGATE_" + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))}
		if err := f(s); err != nil {
			return err
		}
	}
	return nil
}

func readFile(file string, c *Config) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(b, &doc); err != nil {
		return fmt.Errorf("%s: %v", file, decoded.YAMLFaults(err)[0])
	}
	if len(doc.Content) == 0 {
		return nil
	}
	known := map[string]setting{}
	groups := map[string]bool{"": true}
	_ = eachSetting(c, func(s setting) error { // the callback never fails
		known[s.path] = s
		for at, r := range s.path {
			if r == '.' {
				groups[s.path[:at]] = true
			}
		}
		return nil
	})
	return readMap(file, doc.Content[0], "", known, groups)
}

// removedSettings maps each setting of an earlier version to a hint about its replacement.
var removedSettings = map[string]string{
	"lore.embedding_url":   "set embedding.url; the texts of all cards are sent there, not only facts",
	"lore.embedding_model": "set embedding.model",
	"lore.embedding_key":   "set embedding.key",
	"proposals.unproven":   "it is now a setting of each world; set it with loregate world configure WORLD --unproven KIND",
}

func readMap(file string, node *yaml.Node, prefix string, known map[string]setting, groups map[string]bool) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("%s:%d: %q must contain settings; see docs/config.md", file, node.Line, strings.TrimSuffix(prefix,
			"."))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		path := prefix + key.Value
		if seen[path] {
			return fmt.Errorf("%s:%d: %s is set twice; remove one of the lines", file, key.Line, path)
		}
		seen[path] = true
		if groups[path] {
			if err := readMap(file, value, path+".", known, groups); err != nil {
				return err
			}
			continue
		}
		s, ok := known[path]
		if remedy := removedSettings[path]; remedy != "" {
			return fmt.Errorf("%s:%d: %s is not a setting any more: %s", file, key.Line, path, remedy)
		}
		if !ok {
			return fmt.Errorf("%s:%d: unknown setting %q; did you mean %q? See docs/config.md", file, key.Line, path,
				nearest(path, known))
		}
		err := value.Decode(s.value.Addr().Interface())
		if _, ok := s.value.Interface().(Issuers); ok && err != nil {
			return fmt.Errorf("%s:%d: %s: %w", file, value.Line, path, err)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %s cannot be read as %s", file, value.Line, path, kindName(s.value.Interface()))
		}
	}
	return nil
}

// isSetting reports whether an environment variable must name a setting. LOREGATE_CONFIG names the
// file, LOREGATE_WORLD is the default world of commands, and in LOREGATE_KEY… people keep keys for
// their clients.
func isSetting(variable string) bool {
	return strings.HasPrefix(variable, "LOREGATE_") && !strings.HasPrefix(variable, "LOREGATE_KEY") &&
		variable != "LOREGATE_CONFIG" && variable != "LOREGATE_WORLD"
}

func readEnv(environ []string, c *Config) error {
	byVariable := map[string]setting{}
	_ = eachSetting(c, func(s setting) error { // the callback never fails
		byVariable[s.variable] = s
		return nil
	})
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !isSetting(name) {
			continue
		}
		s, ok := byVariable[name]
		if !ok {
			return fmt.Errorf("unknown variable %s; did you mean %s? See docs/config.md", name, nearest(name, byVariable))
		}
		if err := s.set(value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// nearest returns the known name with the fewest edits from name; of several, the first in
// alphabetical order.
func nearest[V any](name string, known map[string]V) string {
	best, least := "", -1
	for k := range known {
		d := markup.Distance([]byte(strings.ToLower(name)), []byte(strings.ToLower(k)))
		if least < 0 || d < least || (d == least && k < best) {
			best, least = k, d
		}
	}
	return best
}
