/**
 * A filter for system calls inside the sandbox, as a classic BPF program for `bwrap --seccomp`. It blocks ways around the
 * namespaces (kernel keyrings, mounts, new user namespaces, sockets to the host machine), input to terminals, and parts
 * of the kernel that builds and tests never need. Files with a setuid or setgid bit cannot be made. Without `unixSockets` a program can neither create nor reach a socket
 * with a path, only create connected pairs. `undefined` on a processor whose system call numbers are not listed.
 */
export function seccompFilter(architecture: string, { unixSockets }: { unixSockets: boolean }): Buffer | undefined {
  const numbers = tables[architecture];
  if (numbers === undefined) return undefined;
  const program: Instruction[] = [
    load(offsets.architecture),
    ...unless(numbers.audit, notPermitted),
    load(offsets.number),
    // The x32 interface of x86-64 has its own numbers for all system calls.
    [jumpGreaterOrEqual, 0, 1, 0x4000_0000],
    notPermitted,
    ...numbers.denied.flatMap((number) => when(number, notPermitted)),
    // A filter cannot see its flags, which are in memory; "not implemented" makes the C library use the older call.
    ...when(numbers.clone3, notImplemented),
    ...when(openat2, notImplemented),
    ...inCall(numbers.clone, 0, [[jumpSet, 0, 1, newUserNamespace], notPermitted]),
    ...inCall(numbers.unshare, 0, [[jumpSet, 0, 1, newUserNamespace], notPermitted]),
    ...inCall(
      numbers.ioctl,
      1,
      terminalTricks.flatMap((request) => when(request, notPermitted)),
    ),
    ...inCall(numbers.socket, 0, [
      ...[...(unixSockets ? [unixFamily] : []), ...families].flatMap((family) => when(family, allowed)),
      notPermitted,
    ]),
    ...numbers.modes.flatMap(([number, argument]) =>
      inCall(number, argument, [[jumpSet, 0, 1, privilegeBits], notPermitted]),
    ),
    // Without one of these flags the register of the mode may hold anything.
    ...numbers.opens.flatMap(([number, flags]) =>
      inCall(number, flags, [
        [jumpSet, 0, 3, creatingFlags],
        load(offsets.firstArgument + 8 * (flags + 1)),
        [jumpSet, 0, 1, privilegeBits],
        notPermitted,
      ]),
    ),
    allowed,
  ];
  return Buffer.concat(program.map(encode));
}

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];

const offsets = { number: 0, architecture: 4, firstArgument: 16 };
const jumpEqual = 0x15;
const jumpGreaterOrEqual = 0x35;
const jumpSet = 0x45;
const allowed: Instruction = [0x06, 0, 0, 0x7fff_0000];
const notPermitted: Instruction = [0x06, 0, 0, 0x0005_0001];
const notImplemented: Instruction = [0x06, 0, 0, 0x0005_0026];

const newUserNamespace = 0x1000_0000;
/** The bits that make a program run with the rights of its owner or group. */
const privilegeBits = 0o6000;
/** O_CREAT and O_TMPFILE. */
const creatingFlags = 0o20000100;
/** Its flags are in memory too. */
const openat2 = 437;
/** TIOCSTI and TIOCLINUX insert characters into a terminal as if they were typed. */
const terminalTricks = [0x5412, 0x541c];
const unixFamily = 1;
/** IPv4, IPv6 and netlink. Not vsock, which reaches the host of a virtual machine, nor rare families. */
const families = [2, 10, 16];

interface Numbers {
  audit: number;
  socket: number;
  ioctl: number;
  clone: number;
  clone3: number;
  unshare: number;
  /** Calls that set the mode of a file, with the position of the mode. */
  modes: readonly (readonly [number: number, argument: number])[];
  /** Calls that may create a file, with the position of the flags; the mode comes next. */
  opens: readonly (readonly [number: number, flags: number])[];
  denied: number[];
}

/**
 * keyctl add_key request_key · bpf perf_event_open userfaultfd · io_uring ×3 · kexec ×2 · modules ×3 · reboot · swap ×2 ·
 * mount umount2 pivot_root setns open_by_handle_at · the newer mount calls ×7
 */
const tables: Record<string, Numbers> = {
  x64: {
    audit: 0xc000_003e,
    socket: 41,
    ioctl: 16,
    clone: 56,
    clone3: 435,
    unshare: 272,
    // chmod fchmod fchmodat fchmodat2 creat mknod mknodat
    modes: [
      [90, 1],
      [91, 1],
      [268, 2],
      [452, 2],
      [85, 1],
      [133, 1],
      [259, 2],
    ],
    // open openat
    opens: [
      [2, 1],
      [257, 2],
    ],
    denied: [
      250, 248, 249, 321, 298, 323, 425, 426, 427, 246, 320, 175, 313, 176, 169, 167, 168, 165, 166, 155, 308, 304, 428,
      429, 430, 431, 432, 433, 442,
    ],
  },
  arm64: {
    audit: 0xc000_00b7,
    socket: 198,
    ioctl: 29,
    clone: 220,
    clone3: 435,
    unshare: 97,
    // fchmod fchmodat fchmodat2 mknodat
    modes: [
      [52, 1],
      [53, 2],
      [452, 2],
      [33, 2],
    ],
    // openat
    opens: [[56, 2]],
    denied: [
      219, 217, 218, 280, 241, 282, 425, 426, 427, 104, 294, 105, 273, 106, 142, 224, 225, 40, 39, 41, 268, 265, 428,
      429, 430, 431, 432, 433, 442,
    ],
  },
};

function load(offset: number): Instruction {
  return [0x20, 0, 0, offset];
}

function when(value: number, result: Instruction): Instruction[] {
  return [[jumpEqual, 0, 1, value], result];
}

function unless(value: number, result: Instruction): Instruction[] {
  return [[jumpEqual, 1, 0, value], result];
}

/** Tests the lower half of an argument of one call, then loads the number again for the next test. */
function inCall(number: number, argument: number, body: Instruction[]): Instruction[] {
  return [
    [jumpEqual, 0, body.length + 2, number],
    load(offsets.firstArgument + 8 * argument),
    ...body,
    load(offsets.number),
  ];
}

function encode([code, jumpTrue, jumpFalse, value]: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(jumpTrue, 2);
  bytes.writeUInt8(jumpFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
