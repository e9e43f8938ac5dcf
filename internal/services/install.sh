#!/bin/sh
# Installs what the tests need and this machine lacks, from Debian's packages: Postgres, Redis,
# nginx and Node (upstreams that read requests in their own way), Chromium, and gcc when asked for
# (`install.sh gcc`; the race detector needs it), or slowhttptest. Where it cannot, it says what to do.
#
# The packages' own servers are neither needed nor started: while they are installed no cluster is created and no
# service is started. What is set up for that is removed again. Services that run already are left alone.
set -eu

missing=
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v postgres >/dev/null || missing="$missing postgresql"
command -v redis-server >/dev/null || missing="$missing redis-server"
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || missing="$missing nginx"
command -v node >/dev/null || missing="$missing nodejs"
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || missing="$missing chromium"
if [ "${1-}" = gcc ] && ! command -v gcc >/dev/null; then
	missing="$missing gcc libc6-dev"
fi
if [ "${1-}" = slowhttptest ] && ! command -v slowhttptest >/dev/null; then
	missing="$missing slowhttptest"
fi
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
	echo "The tests need programs that are not installed:$missing" >&2
	echo "(names of Debian's packages; there is no apt-get here). Install them so that initdb, postgres, redis-server, nginx, node" >&2
	echo "and chromium are on the PATH, or name running servers in FOYER_TEST_POSTGRES and FOYER_TEST_REDIS and run 'go test ./...'." >&2
	exit 1
fi
if [ "$(id -u)" = 0 ]; then
	as_root=
elif command -v sudo >/dev/null; then
	as_root=sudo
else
	echo "The tests need packages that are not installed. As root, run: apt-get install$missing" >&2
	exit 1
fi

echo "installing$missing from Debian's packages"
# shellcheck disable=SC2086 # $as_root is empty or one word, $missing is a list of words
$as_root env DEBIAN_FRONTEND=noninteractive sh -eu -c '
	policy=/usr/sbin/policy-rc.d
	cluster=/etc/postgresql-common/createcluster.d/foyer-tests.conf
	tidy() { rm -f "$cluster"; [ -z "${ours-}" ] || rm -f "$policy"; }
	trap tidy EXIT
	trap "exit 1" INT TERM
	if [ ! -e "$policy" ]; then
		ours=1
		printf "#!/bin/sh\nexit 101\n" >"$policy"
		chmod 755 "$policy"
	fi
	mkdir -p "${cluster%/*}"
	echo "create_main_cluster = false" >"$cluster"
	apt-get update -qq || echo "apt-get update failed; going on with the lists as they are" >&2
	apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends "$@"
' install $missing
