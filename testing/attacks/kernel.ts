import { attacks } from './attack.js';

/** Prints ESCAPED if the system call does not fail. Arguments are Perl expressions. */
const call = (name: string, ...args: string[]) =>
  `perl -e 'require "syscall.ph"; ${succeeds(`&SYS_${name}`, ...args)}'`;
/** By number, where the table of Perl may be too old; newer calls have the same number everywhere. */
const callNumber = (number: number, ...args: string[]) => `perl -e '${succeeds(`${number}`, ...args)}'`;
/** Perl refuses to pass text that is not in a variable. */
const succeeds = (...words: string[]) =>
  `@a = (${words.join(', ')}); $n = shift @a; print "ESCAPED" if syscall($n, @a) >= 0`;

/** Writes what is there already, so that it changes nothing even where it works. */
const rewrite = (path: string) => `v=$(cat ${path}); echo "$v" > ${path} && echo ESCAPED`;

const filter = 'seccomp: call refused';
const capabilities = 'no capabilities, no new privileges';
const danger = { isDangerous: true } as const;

/** Parts of the kernel that builds never need. */
export const kernelAttacks = attacks('kernel', [
  ['add a key to a keyring', call('add_key', '"user"', '"a"', '"b"', '1', '-2'), filter],
  ['read keyrings', call('keyctl', '0', '-4', '0'), filter],
  ['load a BPF program', call('bpf', '0', '"\\0" x 72', '72'), filter, danger],
  ['perf events', call('perf_event_open', '"\\0" x 128', '0', '-1', '-1', '0'), filter, danger],
  ['userfaultfd', call('userfaultfd', '1'), filter],
  ['io_uring', callNumber(425, '4', '"\\0" x 120'), filter],
  ['open by handle', call('open_by_handle_at', '-100', '"\\0" x 64', '0'), filter],
  ['a new user namespace by unshare', call('unshare', '0x10000000'), filter],
  ['a new user namespace by clone', call('clone', '0x10000011', '0', '0', '0', '0'), filter],
  ['a new mount namespace', call('unshare', '0x00020000'), capabilities, danger],
  ['a new network namespace', call('unshare', '0x40000000'), capabilities, danger],
  ['join a namespace', 'exec 9</proc/1/ns/net; nsenter --net=/proc/self/fd/9 true && echo ESCAPED', filter],
  ['mount a file system', 'mkdir m; mount -t tmpfs tmpfs m && echo ESCAPED', filter, danger],
  ['mount by the newer calls', callNumber(430, '"tmpfs"', '0'), filter, danger],
  ['copy a mount', callNumber(428, '-100', '"/"', '1'), filter, danger],
  ['change a mount', callNumber(442, '-100', '"/"', '0', '"\\0" x 32', '32'), filter, danger],
  ['pivot_root', call('pivot_root', '"."', '"."'), filter, danger],
  ['chroot', 'mkdir r; chroot . /bin/true; perl -e \'print "ESCAPED" if chroot(".")\'', capabilities, danger],
  ['load a module', call('init_module', '"x"', '1', '""'), filter, danger],
  ['swap', call('swapoff', '"/none"'), filter, danger],
  ['set the clock', call('settimeofday', '0', '0'), capabilities, danger],
  [
    'set the host name',
    `perl -e 'require "syscall.ph"; $h = qx(hostname); chomp $h; print "ESCAPED" if syscall(&SYS_sethostname, $h, length $h) >= 0'`,
    capabilities,
    danger,
  ],
  [
    'become root',
    'perl -e \'$> = 0; $< = 0; print "ESCAPED" if $ENV{NOT_ROOT} && $> == 0\'; sudo -n id && echo ESCAPED',
    capabilities,
    danger,
  ],
  [
    'gain capabilities by a setuid program',
    'su -c true < /dev/null && echo ESCAPED; grep -q "NoNewPrivs:.1" /proc/self/status || echo ESCAPED',
    'no new privileges',
  ],
  [
    'capabilities are left',
    'grep -q "CapEff:.0*$" /proc/self/status && grep -q "CapBnd:.0*$" /proc/self/status || echo ESCAPED',
    capabilities,
  ],
  ['write a setting of the kernel', rewrite('/proc/sys/kernel/core_uses_pid'), 'read-only /proc/sys', danger],
  ['write the pattern of core dumps', rewrite('/proc/sys/kernel/core_pattern'), 'read-only /proc/sys', danger],
  ['the magic key of the kernel', 'echo h > /proc/sysrq-trigger && echo ESCAPED', 'no rights over /proc', danger],
  [
    'cgroups',
    'mkdir /sys/fs/cgroup/evil && echo ESCAPED && rmdir /sys/fs/cgroup/evil',
    'read-only bind mount of /sys',
    danger,
  ],
  ['the 32-bit interface of clone3', callNumber(435, '"\\0" x 88', '88'), 'seccomp: not implemented', danger],
]);

/** A list of one piece of memory, of one byte, and its length. */
const oneByte = ['pack("PQ", "x", 1)', '1'];

/** Other processes. */
export const processAttacks = attacks('processes', [
  ['kill a process of the user', 'kill -9 $VICTIM', 'pid namespace'],
  ['see processes of the user', '[ -e /proc/$VICTIM ] && echo ESCAPED', 'pid namespace, own /proc'],
  ['read the memory of a process', 'head -c 1 /proc/$VICTIM/environ && echo ESCAPED', 'pid namespace, own /proc'],
  ['trace a process', call('ptrace', '16', '0 + $ENV{VICTIM}', '0', '0'), 'pid namespace'],
  [
    'write to the memory of a process',
    call('process_vm_writev', '0 + $ENV{VICTIM}', ...oneByte, ...oneByte, '0'),
    'pid namespace',
  ],
  ['a descriptor of another process', callNumber(434, '0 + $ENV{VICTIM}', '0'), 'pid namespace'],
  ['limits of a process', 'prlimit --pid $VICTIM --nofile=1:1 && echo ESCAPED', 'pid namespace'],
  ['priority of a process', 'renice -n 19 -p $VICTIM && echo ESCAPED', 'pid namespace'],
  [
    'outlive the command by setsid',
    'setsid sleep 54321.$PORT > /dev/null 2>&1 & sleep 0.1',
    'pid namespace ends with the command',
  ],
  [
    'outlive the command by a double fork',
    '( ( setsid nohup sleep 54321.$PORT > /dev/null 2>&1 & ) & ); sleep 0.1',
    'pid namespace ends with the command',
  ],
  [
    'outlive it with signals ignored',
    "trap '' TERM HUP INT; setsid bash -c 'trap \"\" TERM HUP; exec -a x sleep 54321.'$PORT > /dev/null 2>&1 & sleep 0.1",
    'pid namespace ends with the command',
  ],
  ['shared memory of the user', 'ipcs -m | grep -q 0x0000cafe && echo ESCAPED', 'ipc namespace'],
  ['message queues of the user', 'ipcs -q | grep -q 0x0000cafe && echo ESCAPED', 'ipc namespace'],
  [
    'inherited descriptors',
    'for f in /proc/$$/fd/[3-9]*; do case $(readlink $f) in *lathe/*|*seccomp*) echo ESCAPED;; esac; done',
    'descriptors are closed',
  ],
]);

/** Devices and terminals. */
export const deviceAttacks = attacks('devices', [
  [
    'a disk',
    'for d in /dev/vda /dev/sda /dev/nvme0n1 /dev/loop0; do head -c 1 $d && echo ESCAPED; done',
    'own /dev',
    danger,
  ],
  [
    'memory of the machine',
    'head -c 1 /dev/mem && echo ESCAPED; head -c 1 /dev/kmem && echo ESCAPED; head -c 1 /proc/kcore && echo ESCAPED',
    'own /dev',
    danger,
  ],
  ['make a device', 'mknod d b 7 0 && echo ESCAPED', 'no capabilities', danger],
  ['make a character device', 'mknod k c 1 1 && echo ESCAPED', 'no capabilities', danger],
  [
    'virtualisation',
    '[ -e /dev/kvm ] && echo ESCAPED; [ -e /dev/vhost-net ] && echo ESCAPED; true',
    'own /dev',
    danger,
  ],
  [
    'input and sound',
    '[ -e /dev/input ] && echo ESCAPED; [ -e /dev/snd ] && echo ESCAPED; [ -e /dev/uinput ] && echo ESCAPED; true',
    'own /dev',
    danger,
  ],
  ['FUSE', '[ -c /dev/fuse ] && echo ESCAPED', 'own /dev', danger],
  ['a tunnel', 'exec 9<>/dev/net/tun && echo ESCAPED', 'own /dev', danger],
  ['the log of the kernel', 'head -c 1 /dev/kmsg && echo ESCAPED', 'own /dev', danger],
  ['the terminal of the user', 'exec 9<>/dev/tty && echo ESCAPED', 'a session without a terminal'],
  [
    'type into a terminal',
    'perl -e \'open(T, "<", "/dev/pts/0") or exit; print "ESCAPED" if ioctl(T, 0x5412, "x")\'',
    'seccomp: TIOCSTI refused',
  ],
  ['terminals of the user', 'ls /dev/pts | grep -q "^[0-9]" && echo ESCAPED', 'own /dev', danger],
]);
