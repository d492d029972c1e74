// Package failovertest proves that the service survives its database's servers: PostgreSQL under
// Patroni with etcd, started by the configuration in deploy, is killed, paused and cut off while
// clients write. All programs are the real ones, on loopback.
package failovertest
