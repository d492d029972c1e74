package main

import (
	"crypto/x509"
	"os"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// rootFiles are the files in which systems keep root certificates, as crypto/x509 looks for them.
var rootFiles = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem", "/etc/pki/tls/cacert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	"/etc/ssl/cert.pem"}

// bringRoots makes the program trust the root certificates that it has built in, where the system has none, as in a
// container. Reading them takes a while, and crypto/x509 takes them once.
var bringRoots = sync.OnceValue(func() error {
	if hasOwn := []string{"darwin", "windows"}; slices.Contains(hasOwn, runtime.GOOS) {
		return nil
	}
	files := rootFiles
	if file := os.Getenv("SSL_CERT_FILE"); file != "" {
		files = []string{file}
	}
	if slices.ContainsFunc(files, isFile) {
		return nil
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
})

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
