// Package patronitest starts databases on three servers for tests: PostgreSQL under Patroni with etcd, by the
// configuration in deploy. Servers are killed, paused and cut off. All programs are the real ones, on loopback.
package patronitest
