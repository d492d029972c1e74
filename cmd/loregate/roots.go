package main

import (
	"cmp"
	"crypto/x509"
	"os"
	"runtime"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// rootFiles are the files and folders in which Linux distributions keep root certificates, as crypto/x509 looks for
// them.
var rootFiles = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem", "/etc/pki/tls/cacert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	"/etc/ssl/cert.pem"}

// bringRoots makes the program trust the root certificates that it has built in, where the system has none, as in a
// container. Reading them takes a while.
func bringRoots() error {
	if runtime.GOOS != "linux" || cmp.Or(os.Getenv("SSL_CERT_FILE"), os.Getenv("SSL_CERT_DIR")) != "" {
		return nil
	}
	for _, file := range rootFiles {
		if _, err := os.Stat(file); err == nil {
			return nil
		}
	}
	pool := x509.NewCertPool()
	for root := range bundle.Roots() {
		c, err := x509.ParseCertificate(root.Certificate)
		switch {
		case err != nil:
			return err
		case root.Constraint != nil:
			pool.AddCertWithConstraint(c, root.Constraint)
		default:
			pool.AddCert(c)
		}
	}
	x509.SetFallbackRoots(pool)
	return nil
}
