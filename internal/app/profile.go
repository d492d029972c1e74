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

// Admin is the settings of the address for operators on this machine.
type Admin struct {
	Address string `yaml:"address" doc:"Loopback address, as 127.0.0.1:6060, at which serve offers Go's profiles (net/http/pprof) and nothing else. It asks for no key: every user of this machine can read them, and a dump of the heap or of goroutines can hold content. Empty: none."`
}

// check refuses an address that others can reach.
func (a Admin) check() error {
	if a.Address == "" {
		return nil
	}
	if _, port, err := net.SplitHostPort(a.Address); err != nil || port == "" {
		return fmt.Errorf("admin.address: %q is not host:port; use 127.0.0.1:6060", a.Address)
	}
	if !isLoopback(a.Address) {
		return fmt.Errorf("admin.address: %s can be reached by others, and profiles can hold content; use 127.0.0.1:6060", a.Address)
	}
	return nil
}

// isLoopback reports whether an address, with a port or without, is of this machine alone.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	return identity.IsLoopback(host)
}

// profileTime bounds how many seconds one profile may take.
const profileTime = 120

// serveProfiles offers profiles at admin.address, where one is set. stop ends it.
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
		return nil, errors.Join(fmt.Errorf("admin.address: %s is %s, which others can reach; use 127.0.0.1", at, listener.Addr()), listener.Close())
	}
	server := &http.Server{Handler: profiles(), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(listener) }() // it ends by Close
	a.logger.Warn("profiles are served to every user of this machine; they can hold content", "url", "http://"+listener.Addr().String()+"/debug/pprof/")
	return func() { _ = server.Close(); <-done }, nil
}

// profiles serves net/http/pprof. Pages of other sites, which a browser on this machine may
// show, get nothing: not under a name that they have given this machine's address either.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := r.Header.Get("Sec-Fetch-Site")
		if !isLoopback(r.Host) || r.Header.Get("Origin") != "" || from != "" && from != "none" && from != "same-origin" {
			http.Error(w, "profiles are for programs and persons on this machine; ask at 127.0.0.1", http.StatusForbidden)
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
