import { attacks } from './attack.js';

/** Connects to a socket by its path, relative to what the shell expands. */
const connect = (path: string) =>
  `perl -MIO::Socket::UNIX -e 'my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or exit 1; print $s "x"; print "ESCAPED"' "${path}"`;
const datagram = (path: string) =>
  `perl -MSocket -e 'socket(S, PF_UNIX, SOCK_DGRAM, 0) or exit; send(S, "x", 0, pack_sockaddr_un($ARGV[0])) and print "ESCAPED"' "${path}"`;
const abstract = `perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0) or exit; connect(S, pack("S a*", 1, "\\0$ENV{ABSTRACT}")) and print "ESCAPED"'`;

const covered = 'the socket is covered by a bind mount';
const runtime = 'empty /run';
const unlisted = 'file system by allow list';

/** Sockets in the file system, behind which other programs act for their clients. */
export const socketAttacks = attacks('sockets', [
  ['a socket outside', connect('$OUT/control.sock'), covered],
  ['a socket outside, through a symlink', `ln -s $OUT/control.sock s; ${connect('s')}`, covered],
  ['a socket outside, by a relative path', connect('../out/control.sock'), covered],
  ['a socket outside, through /proc', connect('/proc/self/root$OUT/control.sock'), covered],
  ['a socket outside that was renamed after bind', connect('$OUT/renamed.sock'), covered],
  ['a socket with a blank in its path', connect('$OUT/with blank.sock'), covered],
  ['a socket bound by a relative path', connect('$OUT/relative.sock'), covered],
  ['a socket in a directory without read permission', connect('$OUT/closed/control.sock'), covered],
  ['a socket in the home directory', connect('$HOME/agent.sock'), 'home directory by allow list'],
  ['a socket in the workspace', connect('$WS/app.sock'), covered],
  ['a socket deep in the workspace', connect('node_modules/.cache/deep/app.sock'), covered],
  ['a socket in the workspace, renamed by the command', `mv app.sock b.sock; ${connect('b.sock')}`, covered],
  ['a socket in the workspace, hard linked', `ln app.sock c.sock; ${connect('c.sock')}`, covered],
  [
    'a socket in the workspace, its directory renamed',
    `mv node_modules n; ${connect('n/.cache/deep/app.sock')}`,
    covered,
  ],
  ['a socket for datagrams', datagram('$OUT/datagram.sock'), covered],
  ['a socket on another disk that was renamed after bind', connect('$DISK/renamed.sock'), unlisted],
  ['a socket on another disk, bound by a relative path', connect('$DISK/relative.sock'), unlisted],
  ['a socket on another disk, through a symlink', `ln -s $DISK d; ${connect('d/relative.sock')}`, unlisted],
  ['a socket on another disk for datagrams', datagram('$DISK/datagram.sock'), unlisted],
  ['an abstract socket', abstract, 'network namespace'],
  ['the system bus', connect('/run/dbus/system_bus_socket'), runtime],
  ['Docker', connect('/var/run/docker.sock'), runtime],
  ['containerd', connect('/run/containerd/containerd.sock'), runtime],
  ['Podman of the user', connect('/run/user/0/podman/podman.sock'), runtime],
  ['systemd of the user', connect('/run/user/0/systemd/private'), runtime],
  ['the name service cache', connect('/var/run/nscd/socket'), runtime],
  ['a socket in /tmp of the host', connect('/tmp/lathe-attack-$PORT.sock'), 'own /tmp'],
  ['the agent for SSH', '[ -n "$SSH_AUTH_SOCK" ] && echo ESCAPED', 'environment by allow list'],
]);

const network = 'network namespace';

/** The same from a command that shares its network with one in the background. */
const besideServer = (rows: readonly (readonly [name: string, script: string])[]) =>
  rows.map(([name, script]) => {
    const more = { isOurs: true, hasServer: true } as const;
    return [`${name}, beside a server`, script, 'network namespace of the session', more] as const;
  });

/** The network, from which a command gets nothing unless a person allowed it. */
export const networkAttacks = attacks('network', [
  ['TCP on loopback', 'exec 3<>/dev/tcp/127.0.0.1/$PORT', network],
  ['TCP by name', 'exec 3<>/dev/tcp/localhost/$PORT', network],
  ['TCP over IPv6', 'exec 3<>/dev/tcp/::1/$PORT; exec 3<>/dev/tcp/::ffff:127.0.0.1/$PORT', network],
  ['HTTP with curl', 'curl -s --max-time 3 http://127.0.0.1:$PORT', network],
  ['HTTP with curl, past proxies', 'curl -s --noproxy "*" --max-time 3 http://127.0.0.1:$PORT', network],
  [
    'HTTP through the proxy of the variables',
    'for p in $HTTP_PROXY $http_proxy $ALL_PROXY; do curl -s --max-time 3 -x $p http://127.0.0.1:$PORT; done',
    network,
  ],
  ['HTTP with node', 'node -e "fetch(\'http://127.0.0.1:\' + process.env.PORT).catch(() => 0)"', network],
  ['a connection with perl', 'perl -MIO::Socket::INET -e \'IO::Socket::INET->new("127.0.0.1:$ENV{PORT}")\'', network],
  ['git over HTTP', 'timeout 3 git ls-remote http://127.0.0.1:$PORT/x', network],
  [
    'another address of the machine',
    'for a in $(hostname -I); do timeout 2 bash -c "exec 3<>/dev/tcp/$a/$PORT"; done',
    network,
  ],
  ['the server of metadata', 'timeout 2 bash -c "exec 3<>/dev/tcp/169.254.169.254/80" && echo ESCAPED', network],
  ['a name server', 'timeout 2 bash -c "exec 3<>/dev/tcp/1.1.1.1/53" && echo ESCAPED', network],
  ['resolve a name', 'timeout 3 getent hosts lathe-attack.example.com && echo ESCAPED', network],
  [
    'a raw socket',
    'perl -MSocket -e \'socket(S, PF_INET, SOCK_RAW, 1) and print "ESCAPED"\'',
    'no capabilities',
    { isDangerous: true },
  ],
  [
    'a packet socket',
    'perl -e \'socket(S, 17, 3, 768) and print "ESCAPED"\'',
    'seccomp: family refused',
    { isDangerous: true },
  ],
  ['the host of a virtual machine', 'perl -e \'socket(S, 40, 1, 0) and print "ESCAPED"\'', 'seccomp: family refused'],
  [
    'Bluetooth',
    'perl -e \'socket(S, 31, 3, 1) and print "ESCAPED"\'',
    'seccomp: family refused',
    { isDangerous: true },
  ],
  [
    'the crypto interface of the kernel',
    'perl -e \'socket(S, 38, 5, 0) and print "ESCAPED"\'',
    'seccomp: family refused',
  ],
  ['a new interface', 'ip link add dummy0 type dummy && echo ESCAPED', 'no capabilities', { isDangerous: true }],
  [
    'join the network of the first process',
    'nsenter -t 1 -n bash -c "exec 3<>/dev/tcp/127.0.0.1/$PORT"',
    'seccomp: setns refused',
  ],
  ...besideServer([
    ['a connection', 'exec 3<>/dev/tcp/127.0.0.1/$PORT'],
    ['a connection over IPv6', 'exec 3<>/dev/tcp/::1/$PORT'],
    [
      'another address of the machine',
      'for a in $(hostname -I); do timeout 2 bash -c "exec 3<>/dev/tcp/$a/$PORT"; done',
    ],
    ['join the network of the first process', 'nsenter -t 1 -n bash -c "exec 3<>/dev/tcp/127.0.0.1/$PORT"'],
    ['a new interface', 'ip link add dummy0 type dummy && echo ESCAPED'],
    [
      'the process that holds the network',
      'for p in /proc/[0-9]*; do grep -qz disconnect $p/cmdline && echo ESCAPED; done',
    ],
  ]),
]);
