package app

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"

	"loregate/internal/identity"
)

// Admin configures the address that serves operators on this machine.
type Admin struct {
	Address string `yaml:"address" doc:"Loopback address, such as 127.0.0.1:6060, at which serve offers only Go's profiles (net/http/pprof). No key is needed: every user of this machine can read them, and a dump of the heap or of goroutines can contain content. Empty: none."`
}

// validate refuses an address that others can reach.
func (a Admin) validate() error {
	if a.Address == "" {
		return nil
	}
	if _, port, err := net.SplitHostPort(a.Address); err != nil || port == "" {
		return fmt.Errorf("admin.address: %q does not have the form host:port; write it as 127.0.0.1:6060", a.Address)
	}
	if !isLoopback(a.Address) {
		return fmt.Errorf("admin.address: other machines can reach %s, and profiles can contain content; use 127.0.0.1:6060",
			a.Address)
	}
	return nil
}

// isLoopback reports whether an address, with a port or without, can be reached only from this
// machine.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	return identity.IsLoopback(host)
}

// profileTime is the longest duration of one profile, in seconds.
const profileTime = 120

// serveProfiles serves profiles at admin.address, if it is set. stop ends that.
func (a *App) serveProfiles() (stop func(), err error) {
	at := a.Config.Admin.Address
	if at == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", at)
	if err != nil {
		return nil, fmt.Errorf("admin.address: %w", err)
	}
	if !isLoopback(listener.Addr().String()) { // a hosts file may give localhost any address
		return nil, errors.Join(fmt.Errorf("admin.address: %s is %s, which other machines can reach; use 127.0.0.1", at,
			listener.Addr()), listener.Close())
	}
	server := &http.Server{Handler: newProfileHandler(), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(listener) }() // Close ends it
	a.logger.Warn("profiles are served to every user of this machine; they can contain content", "url", "http://"+
		listener.Addr().String()+"/debug/pprof/")
	return func() { _ = server.Close(); <-done }, nil
}

// newProfileHandler serves net/http/pprof. It refuses requests from pages of other sites in a
// browser on this machine, also if their domain name resolves to this machine.
func newProfileHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := r.Header.Get("Sec-Fetch-Site")
		if !isLoopback(r.Host) || r.Header.Get("Origin") != "" || from != "" && from != "none" && from != "same-origin" {
			http.Error(w, "profiles are served only on this machine; use the address 127.0.0.1", http.StatusForbidden)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead && r.URL.Path != "/debug/pprof/symbol" {
			http.Error(w, "use GET", http.StatusMethodNotAllowed)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		if text := r.URL.Query().Get("seconds"); text != "" {
			if n, err := strconv.ParseFloat(text, 64); err != nil || !(n > 0 && n <= profileTime) {
				http.Error(w, fmt.Sprintf("seconds: use a number up to %d", profileTime), http.StatusBadRequest)
				return
			}
		}
		w.Header().Set("Cache-Control", "no-store")
		mux.ServeHTTP(w, r)
	})
}
