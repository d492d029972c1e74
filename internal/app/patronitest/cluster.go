package patronitest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"loregate/internal/app/apptest"
	"loregate/internal/programtest"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/wait"
)

// Patience bounds the time that a test waits for something that should come soon.
const Patience = 60 * time.Second

// password is that of all users of the test's database.
const password = "loopback"

// Cluster is three servers of PostgreSQL under Patroni, and three members of etcd, which several clusters share.
type Cluster struct {
	Dir string // of the servers' files, one for clusters that share etcd; removed at the end of the test

	t      testing.TB
	scope  string // its name in etcd; "" is that of deploy/patroni.yml
	bin    string
	runAs  *syscall.Credential
	tls    *http.Client // has a certificate of certificates.sh, as each machine has
	etcd   [3]*EtcdMember
	nodes  [3]*Node
	killed *Node // by Kill
}

// daemon is a program that runs in the background.
type daemon struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

// Node is a machine with Patroni and PostgreSQL. All that others reach of it, and its way to etcd,
// are proxies.
type Node struct {
	*daemon
	c                     *Cluster
	name, dir             string
	env                   []string // settings of Patroni, and of programs beside it
	server, rest          string   // addresses without the proxy
	toServer, toRest, out *proxy
}

// EtcdMember is one of the members of etcd.
type EtcdMember struct {
	*daemon
	name, client, peer string
}

// FreeAddress returns a loopback address on which nothing listens.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Start starts all servers, and returns when they replicate.
func Start(t testing.TB) *Cluster {
	t.Helper()
	programtest.Find(t, "patroni")
	programtest.Find(t, "etcd")
	postgres := programtest.Find(t, "postgres", "/usr/lib/postgresql/*/bin/postgres", "postgres")
	dir, err := os.MkdirTemp("", "failover")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c := &Cluster{Dir: dir, t: t, bin: filepath.Dir(postgres), runAs: serverOwner(t)}
	c.makeCertificates()
	for i := range c.etcd {
		c.etcd[i] = &EtcdMember{name: fmt.Sprint("etcd", i), client: FreeAddress(t), peer: FreeAddress(t)}
	}
	for _, m := range c.etcd {
		c.StartEtcd(m)
	}
	apptest.Eventually(t, "etcd has a leader", Patience, c.etcdDecided)
	c.startNodes()
	return c
}

// Another starts three more servers with the same etcd, and returns when they replicate.
func (c *Cluster) Another(scope string) *Cluster {
	c.t.Helper()
	other := *c
	other.scope = scope
	other.startNodes()
	return &other
}

func (c *Cluster) startNodes() {
	c.t.Helper()
	t := c.t
	c.nodes = [3]*Node{}
	for i := range c.nodes {
		c.nodes[i] = c.newNode(i)
		c.StartNode(c.nodes[i])
		if i == 0 {
			apptest.Eventually(t, "there is a primary", Patience, func() bool { return c.Primary() != nil })
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			c.logState()
		}
	})
	c.AwaitReplication()
}

// serverOwner returns the user to run the servers as, which refuse root.
func serverOwner(t testing.TB) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32) // numbers on Unix
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func (c *Cluster) makeDir(name string) string {
	c.t.Helper()
	dir := filepath.Join(c.Dir, name)
	err := os.MkdirAll(dir, 0o700)
	if err == nil && c.runAs != nil {
		err = os.Chown(dir, int(c.runAs.Uid), int(c.runAs.Gid))
	}
	if err == nil {
		err = os.Chmod(c.Dir, 0o755) //nolint:gosec // the servers' user enters it
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return dir
}

// run starts a program that ends with this process; see pgtest.Run. Patroni stops its server when it is
// told to end.
func (c *Cluster) run(dir string, env []string, name string, args ...string) *daemon {
	c.t.Helper()
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close() // the program has its own file handle
	d := &daemon{cmd: exec.Command(name, args...)}
	d.cmd.Dir, d.cmd.Env, d.cmd.Stdout, d.cmd.Stderr = dir, append(os.Environ(), env...), log, log
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.runAs, Pdeathsig: syscall.SIGTERM}
	if d.exited, err = pgtest.Run(d.cmd); err != nil {
		c.t.Fatal(err)
	}
	return d
}

// Kill kills the program.
func (d *daemon) Kill() {
	_ = d.cmd.Process.Signal(syscall.SIGKILL) // an error means that it has ended
	<-d.exited
}

// makeCertificates makes the certificate of the machine on which all members run, by deploy/certificates.sh.
func (c *Cluster) makeCertificates() {
	c.t.Helper()
	programtest.Find(c.t, "openssl")
	dir := c.makeDir("certificates")
	script, err := filepath.Abs("../../../deploy/certificates.sh")
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.CommandContext(c.t.Context(), script, "machine=127.0.0.1")
	cmd.Env = append(os.Environ(), "FOLDER="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"ca.crt", "machine.crt", "machine.key"} {
		if c.runAs == nil {
			break
		}
		if err := os.Chown(filepath.Join(dir, name), int(c.runAs.Uid), int(c.runAs.Gid)); err != nil {
			c.t.Fatal(err)
		}
	}
	own, err := tls.LoadX509KeyPair(c.certificate("machine.crt"), c.certificate("machine.key"))
	if err != nil {
		c.t.Fatal(err)
	}
	authority, err := os.ReadFile(c.certificate("ca.crt"))
	if err != nil {
		c.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	c.tls = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{own}, RootCAs: roots}}}
}

func (c *Cluster) certificate(name string) string { return filepath.Join(c.Dir, "certificates", name) }

// StartEtcd starts a member of etcd.
func (c *Cluster) StartEtcd(m *EtcdMember) {
	c.t.Helper()
	var members []string
	for _, m := range c.etcd {
		members = append(members, m.name+"=https://"+m.peer)
	}
	dir := c.makeDir(m.name)
	m.daemon = c.run(dir, nil, "etcd", "--name", m.name, "--data-dir", filepath.Join(dir, "data"),
		"--listen-client-urls", "https://"+m.client, "--advertise-client-urls", "https://"+m.client,
		"--listen-peer-urls", "https://"+m.peer, "--initial-advertise-peer-urls", "https://"+m.peer,
		"--client-cert-auth", "--trusted-ca-file", c.certificate("ca.crt"),
		"--cert-file", c.certificate("machine.crt"), "--key-file", c.certificate("machine.key"),
		"--peer-client-cert-auth", "--peer-trusted-ca-file", c.certificate("ca.crt"),
		"--peer-cert-file", c.certificate("machine.crt"), "--peer-key-file", c.certificate("machine.key"),
		"--initial-cluster", strings.Join(members, ","), "--heartbeat-interval", "200", "--election-timeout", "2000",
		"--enable-v2", "--logger", "zap", "--log-level", "warn")
	c.t.Cleanup(m.Kill)
}

// etcdDecided reports whether the members agree on a version, without which Patroni does not start.
func (c *Cluster) etcdDecided() bool {
	for _, m := range c.etcd {
		res, err := c.tls.Get("https://" + m.client + "/version")
		if err != nil {
			return false
		}
		text, _ := io.ReadAll(res.Body) // "" does not have the version
		_ = res.Body.Close()
		if !strings.Contains(string(text), `"etcdcluster":"3`) {
			return false
		}
	}
	return true
}

func (c *Cluster) newNode(i int) *Node {
	c.t.Helper()
	n := &Node{c: c, name: fmt.Sprint("db", c.scope, i+1), server: FreeAddress(c.t), rest: FreeAddress(c.t)}
	n.dir = c.makeDir(n.name)
	n.toServer, n.toRest = newProxy(c.t, n.server), newProxy(c.t, n.rest)
	n.out = newProxy(c.t, c.etcd[0].client, c.etcd[1].client, c.etcd[2].client)
	c.t.Cleanup(func() { n.Kill(); n.killServer() })
	return n
}

// StartNode starts Patroni on a node, and by it PostgreSQL.
func (c *Cluster) StartNode(n *Node) {
	c.t.Helper()
	config, err := filepath.Abs("../../../deploy/patroni.yml")
	if err != nil {
		c.t.Fatal(err)
	}
	text, err := os.ReadFile(config)
	if err == nil {
		config = filepath.Join(n.dir, "patroni.yml")
		text = bytes.ReplaceAll(text, []byte("/etc/ssl/loregate/"), []byte(c.certificate("")+"/"))
		err = os.WriteFile(config, text, 0o644) //nolint:gosec // read by the servers' user
	}
	if err != nil {
		c.t.Fatal(err)
	}
	n.env = []string{"HOME=" + n.dir, "PATRONI_NAME=" + n.name, "PATRONI_SCOPE=" + cmp.Or(c.scope, "loregate"),
		"PATRONI_ETCD_HOSTS=" + n.out.Addr, "PATRONI_ETCD_USE_PROXIES=true",
		"PATRONI_RESTAPI_LISTEN=" + n.rest, "PATRONI_RESTAPI_CONNECT_ADDRESS=" + n.toRest.Addr,
		"PATRONI_RESTAPI_USERNAME=patroni", "PATRONI_RESTAPI_PASSWORD=" + password,
		"PATRONI_POSTGRESQL_LISTEN=" + n.server, "PATRONI_POSTGRESQL_CONNECT_ADDRESS=" + n.toServer.Addr,
		"PATRONI_POSTGRESQL_DATA_DIR=" + n.dataDir(), "PATRONI_POSTGRESQL_BIN_DIR=" + c.bin,
		"PATRONI_POSTGRESQL_PGPASS=" + filepath.Join(n.dir, "pgpass"),
		"PATRONI_SUPERUSER_USERNAME=postgres", "PATRONI_SUPERUSER_PASSWORD=" + password,
		"PATRONI_REPLICATION_USERNAME=replicator", "PATRONI_REPLICATION_PASSWORD=" + password,
		"PGBACKREST_CONFIG=" + filepath.Join(n.dir, "pgbackrest.conf"),
	}
	n.daemon = c.run(n.dir, n.env, "patroni", config)
}

// Run runs a program of the node to its end, as the user of its server and with its settings, and returns its
// output.
func (n *Node) Run(name string, args ...string) string {
	n.c.t.Helper()
	ctx, cancel := context.WithTimeout(n.c.t.Context(), 5*Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = n.dir, append(os.Environ(), n.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: n.c.runAs}
	out, err := cmd.CombinedOutput()
	if err != nil {
		n.c.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (n *Node) dataDir() string { return filepath.Join(n.dir, "data") }

// serverPid returns the process id of the node's server; 0 if there is none.
func (n *Node) serverPid() int {
	text, err := os.ReadFile(filepath.Join(n.dataDir(), "postmaster.pid"))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, _ := strconv.Atoi(first) // 0 for a file that is being written
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil || !strings.HasPrefix(string(name), "postgres") {
		return 0
	}
	return pid
}

// killServer kills PostgreSQL, whose other processes end when they notice.
func (n *Node) killServer() {
	if pid := n.serverPid(); pid > 1 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// Crash kills Patroni and PostgreSQL.
func (n *Node) Crash() {
	n.Kill()
	n.killServer()
}

// SignalAll signals Patroni, PostgreSQL and its processes.
func (n *Node) SignalAll(sig syscall.Signal) {
	pids := []int{n.cmd.Process.Pid}
	if server := n.serverPid(); server > 1 {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", server, server)) // none if it has just ended
		for field := range strings.FieldsSeq(string(children)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
		pids = append(pids, server)
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig) // an error means that it has ended
	}
}

// Cut cuts a node off. A proxy does not know who connects to it, so that the questions of Patroni to
// the other nodes are cut for all: otherwise the node would stay the primary by failsafe_mode.
func (n *Node) Cut() {
	for _, p := range n.network() {
		p.cut()
	}
}

func (n *Node) network() []*proxy {
	list := []*proxy{n.toServer, n.out}
	for _, other := range n.c.nodes {
		list = append(list, other.toRest)
	}
	return list
}

// Mend ends a cut.
func (n *Node) Mend() {
	for _, p := range n.network() {
		p.mend()
		p.DropAll()
	}
}

// answers reports whether a node's Patroni answers 200 to a question.
func (n *Node) answers(question string) bool {
	client := *n.c.tls
	client.Timeout = 2 * time.Second
	res, err := client.Get("https://" + n.rest + question)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// Primary returns the node that holds the lease; nil if there is none.
func (c *Cluster) Primary() *Node {
	for _, n := range c.nodes {
		if n != nil && n.answers("/primary") {
			return n
		}
	}
	return nil
}

// AwaitReplication waits until there are a primary, a synchronous standby and another standby.
func (c *Cluster) AwaitReplication() {
	c.t.Helper()
	apptest.Eventually(c.t, "all servers replicate", 2*Patience, func() bool {
		p := c.Primary()
		if p == nil {
			return false
		}
		var streams, synchronous int
		err := c.Query(p, "SELECT count(*), count(*) FILTER (WHERE sync_state = 'sync') "+
			"FROM pg_stat_replication WHERE state = 'streaming' AND application_name LIKE 'db%'", &streams, &synchronous)
		wait.For(c.t.Context(), 100*time.Millisecond)
		return err == nil && streams == 2 && synchronous == 1
	})
}

// logState logs the last lines of each node, and its view of replication.
func (c *Cluster) logState() {
	for _, n := range c.nodes {
		if n == nil {
			continue
		}
		text, _ := os.ReadFile(filepath.Join(n.dir, "log")) // "" if it did not start
		lines := strings.Split(string(text), "\n")
		var file, names, standbys string
		err := c.Query(n, `SELECT CASE WHEN pg_is_in_recovery() THEN '' ELSE pg_walfile_name(pg_current_wal_lsn()) END,
			current_setting('synchronous_standby_names'),
			coalesce((SELECT string_agg(concat_ws(' ', application_name, state, sync_state, flush_lsn), '; ')
				FROM pg_stat_replication), '')`,
			&file, &names, &standbys)
		c.t.Logf("%s: file %s, synchronous %q, standbys %s; %v\n%s", n.name, file, names, standbys, err,
			strings.Join(lines[max(len(lines)-40, 0):], "\n"))
	}
}

// Query asks a node's server as superuser, past the proxy.
func (c *Cluster) Query(n *Node, sql string, into ...any) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.t.Context()), 5*time.Second)
	defer cancel()
	db, err := pgx.Connect(ctx, "postgres://postgres:"+password+"@"+n.server+"/loregate?"+c.verified())
	if err != nil { // before the database is created
		db, err = pgx.Connect(ctx, "postgres://postgres:"+password+"@"+n.server+"/postgres?"+c.verified())
	}
	if err != nil {
		return err
	}
	defer db.Close(ctx)
	if len(into) == 0 {
		_, err = db.Exec(ctx, sql)
		return err
	}
	return db.QueryRow(ctx, sql).Scan(into...)
}

// CreateDatabase makes the user and the database, as docs/operations.md has it.
func (c *Cluster) CreateDatabase() {
	c.t.Helper()
	for _, sql := range []string{"CREATE ROLE loregate LOGIN PASSWORD '" + password + "'", "GRANT pg_monitor TO loregate",
		"CREATE DATABASE loregate OWNER loregate TEMPLATE template0 ENCODING UTF8"} {
		if err := c.Query(c.Primary(), sql); err != nil {
			c.t.Fatal(err)
		}
	}
}

// Empty makes the user and the database, and returns its address. There is one for each cluster.
func (c *Cluster) Empty() string {
	c.t.Helper()
	c.CreateDatabase()
	return c.Address()
}

// Kill kills the primary.
func (c *Cluster) Kill() {
	c.t.Helper()
	c.killed = c.Primary()
	c.killed.Crash()
}

// Again starts the server that was killed when another one has taken over, and returns when all replicate.
func (c *Cluster) Again() {
	c.t.Helper()
	apptest.Eventually(c.t, "another server takes over", Patience, func() bool { return c.Primary() != nil })
	c.StartNode(c.killed)
	c.AwaitReplication()
}

// SwitchOver makes the synchronous standby the primary, as patronictl switchover does, and returns when all
// replicate.
func (c *Cluster) SwitchOver() {
	c.t.Helper()
	before := c.Primary()
	apptest.Eventually(c.t, "Patroni changes the primary", Patience, func() bool { // it must know the standby first
		return c.askSwitchOver(before, password) == http.StatusOK
	})
	c.AwaitReplication()
	if c.Primary() == before {
		c.t.Fatalf("%s is the primary still", before.name)
	}
}

// askSwitchOver asks a node to give up its lease, and returns the status of its answer; 0 if it gives none.
func (c *Cluster) askSwitchOver(n *Node, password string) int {
	q, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, "https://"+n.rest+"/switchover",
		strings.NewReader(fmt.Sprintf(`{"leader": %q}`, n.name)))
	if err != nil {
		c.t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	q.SetBasicAuth("patroni", password)
	res, err := c.tls.Do(q)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// CheckStrangers fails if somebody without a certificate reaches etcd or Patroni, or somebody without the password
// changes the primary.
func (c *Cluster) CheckStrangers() {
	c.t.Helper()
	roots := c.tls.Transport.(*http.Transport).TLSClientConfig.RootCAs
	stranger := &http.Client{Timeout: 10 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	n := c.Primary()
	for _, address := range []string{c.etcd[0].client, c.etcd[0].peer, n.rest} {
		for _, scheme := range []string{"http", "https"} {
			res, err := stranger.Get(scheme + "://" + address + "/version")
			if err != nil {
				continue
			}
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				c.t.Errorf("%s://%s answers without a certificate", scheme, address)
			}
		}
	}
	if got := c.askSwitchOver(n, "wrong"); got != http.StatusUnauthorized {
		c.t.Errorf("Patroni answers a wrong password with %d", got)
	}
}

// Address returns the address of the database on all servers.
func (c *Cluster) Address() string {
	var hosts []string
	for _, n := range c.nodes {
		hosts = append(hosts, n.toServer.Addr)
	}
	return "postgres://loregate:" + password + "@" + strings.Join(hosts, ",") +
		"/loregate?target_session_attrs=read-write&" + c.verified()
}

// verified are the parameters with which a client checks the server's certificate.
func (c *Cluster) verified() string {
	return "sslmode=verify-full&sslrootcert=" + c.certificate("ca.crt")
}

// RandomMember returns a member of etcd.
func (c *Cluster) RandomMember(r *rand.Rand) *EtcdMember { return c.etcd[r.IntN(len(c.etcd))] }
