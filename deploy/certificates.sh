#!/usr/bin/env bash
# Makes the certificates by which the machines of a database know each other: an authority, and for each machine a key
# with a certificate. etcd, Patroni and PostgreSQL use them, and refuse connections of machines without one.
#
#   certificates.sh db1=10.0.0.11 db2=10.0.0.12 db3=10.0.0.13
#
# An address is the machine's own in the private network. Each machine gets ca.crt, and its own files as machine.crt and
# machine.key. Keep ca.key elsewhere: who has it can join. Called again, it adds machines and renews certificates.
#
#   FOLDER  where the files are (default ./certificates)
#   DAYS    how long they are valid (default 825)
set -euo pipefail
umask 077
folder=${FOLDER:-./certificates} days=${DAYS:-825}
[ $# -gt 0 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$folder"
cd "$folder"
newkey=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
if [ ! -f ca.key ]; then
	openssl req -x509 "${newkey[@]}" -keyout ca.key -out ca.crt -days 3650 -subj "/CN=Loregate database" \
		-addext basicConstraints=critical,CA:TRUE,pathlen:0 -addext keyUsage=critical,keyCertSign,cRLSign
fi
for machine in "$@"; do
	name=${machine%%=*} address=${machine#*=}
	openssl req "${newkey[@]}" -keyout "$name.key" -out "$name.csr" -subj "/CN=$name"
	openssl x509 -req -in "$name.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days "$days" -out "$name.crt" -extfile <(
		echo "subjectAltName=DNS:$name,DNS:localhost,IP:$address,IP:127.0.0.1"
		echo "extendedKeyUsage=serverAuth,clientAuth"
		echo "basicConstraints=critical,CA:FALSE"
	)
	rm "$name.csr"
done
