import { attacks } from './attack.js';

const readOnly = 'read-only bind mount of the place';
const unlisted = 'file system by allow list';
const mountedWay = 'bind mounts on the way, which cannot be renamed';
const noMount = 'seccomp: mount calls refused, no capabilities';

/** Writing outside the workspace. */
export const fileAttacks = attacks('files', [
  ['write a new file', 'echo x > $OUT/new', readOnly],
  ['append to a file', 'echo x >> $OUT/existing', readOnly],
  ['truncate a file', 'truncate -s 0 $OUT/existing', readOnly],
  ['remove a file', 'rm -f $OUT/existing', readOnly],
  ['rename a file', 'mv $OUT/existing $OUT/other', readOnly],
  ['move a file out', 'touch f; mv f $OUT/new', readOnly],
  ['hard link a file out', 'touch f; ln f $OUT/new', 'link() across mounts fails'],
  ['hard link a file in and write to it', 'ln $OUT/existing here && echo x >> here', 'link() across mounts fails'],
  ['symlink into the workspace and write to it', 'ln -s $OUT/existing l; echo x >> l', readOnly],
  ['symlinked directory', 'ln -s $OUT d; echo x > d/new', readOnly],
  ['write a new file on another disk', 'echo x > $DISK/new', unlisted],
  ['append to a file on another disk', 'echo x >> $DISK/existing', unlisted],
  ['read a file on another disk', 'cat $DISK/existing', unlisted],
  ['search another disk', 'grep -rhs "" $DISK /proc/self/root$DISK', unlisted],
  ['make a directory', 'mkdir $OUT/new', readOnly],
  ['make a pipe', 'mkfifo $OUT/new', readOnly],
  ['make a symlink', 'ln -s /etc $OUT/new', readOnly],
  ['change a mode', 'chmod 777 $OUT/existing', readOnly],
  ['change an owner', 'chown 1 $OUT/existing', readOnly, { isDangerous: true }],
  ['change the times', 'touch -d 2001-01-01 $OUT/existing', readOnly],
  ['set an extended attribute', 'setfattr -n user.x -v y $OUT/existing && echo ESCAPED', readOnly],
  ['through /proc/self/root', 'echo x > /proc/self/root$OUT/new', readOnly],
  ['through /proc/self/cwd', 'echo x > /proc/self/cwd/../out/new', readOnly],
  ['through the root of the first process', 'echo x > /proc/1/root$OUT/new', 'pid namespace, own /proc'],
  ['through an open descriptor of a directory', 'exec 9< $OUT; echo x > /proc/self/fd/9/new', readOnly],
  ['open for reading, reopen for writing', 'exec 9< $OUT/existing; echo x > /proc/self/fd/9', readOnly],
  ['copy with dd', 'dd if=/etc/hostname of=$OUT/new', readOnly],
  ['extract an archive', 'touch f; tar cf t.tar f; tar xf t.tar -C $OUT', readOnly],
  ['a relative path with many ..', 'echo x > ../../../../../../../..$OUT/new', readOnly],
  ['a script of npm', 'echo \'{"scripts":{"a":"echo x > $OUT/new"}}\' > package.json; npm run a', readOnly],
  ['write with node', "node -e \"fs.writeFileSync(process.env.OUT + '/new', 'x')\"", readOnly],
  ['a temporary file, linked by linkat', tmpfileScript('$OUT'), readOnly],
  ['remount / writable', 'mount -o remount,rw / ; mount -o remount,rw,bind / ; echo x > $OUT/new', noMount, danger()],
  ['bind the workspace over a directory', 'mount --bind . $OUT && echo ESCAPED', noMount, danger()],
  ['unmount a mount', 'umount -l /tmp && echo ESCAPED', noMount, danger()],
  [
    'a new user namespace',
    'unshare -Urm sh -c "mount -o remount,rw,bind /; echo x > $OUT/new"',
    'seccomp: new user namespaces refused',
    danger(),
  ],
  ['a sandbox in the sandbox', 'bwrap --bind / / touch $OUT/new', 'seccomp: new user namespaces refused'],
  [
    'the way to the workspace, swapped for the next command',
    'd=$(dirname $WS); mv $d $d.old && ln -s /oldroot$OUT $d',
    mountedWay,
    { times: 2, isOurs: true },
  ],
  [
    'the way to a toolchain, swapped for the next command',
    'd=$HOME/.cache/huggingface; mv $d $d.old && ln -s /oldroot$OUT $d',
    mountedWay,
    { times: 2, isOurs: true },
  ],
  ['a symlink left for the next command', 'ln -s $OUT later; echo x > later/new; rm later', readOnly, { times: 2 }],
  ['a mode with setuid', 'cp /bin/true s && chmod 4755 s', 'seccomp: setuid and setgid bits refused'],
  ['a mode with setgid', 'cp /bin/true s && chmod g+s s', 'seccomp: setuid and setgid bits refused'],
  ['install with setuid', 'install -m 4755 /bin/true s', 'seccomp: setuid and setgid bits refused'],
  ['a directory with setgid', 'mkdir d && chmod 2775 d', 'seccomp: setuid and setgid bits refused'],
]);

function danger(): { isDangerous: true } {
  return { isDangerous: true };
}

/** A file without a name, which gets one later. */
function tmpfileScript(directory: string): string {
  const code =
    'import os,sys; d = sys.argv[1]; f = os.open(d, os.O_TMPFILE | os.O_RDWR, 0o600); os.write(f, b"x"); os.link(f"/proc/self/fd/{f}", d + "/new", src_dir_fd=0, follow_symlinks=True)';
  return `/usr/bin/python3 -c '${code}' ${directory}`;
}
