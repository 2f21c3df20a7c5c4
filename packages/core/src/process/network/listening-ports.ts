import { readdirSync, readlinkSync } from 'node:fs';
import { attempt } from '../../contract/errors.js';
import { readProc } from '../run/process-tree.js';

/** A TCP socket that listens. */
export interface ListeningPort {
  port: number;
  /** Where to connect to reach it, in its own network namespace. */
  host: string;
  inode: string;
}

/** The TCP ports on which programs listen in the network namespace of a process, IPv4 first. */
export function listeningPorts(pid: number): ListeningPort[] {
  return ['tcp', 'tcp6'].flatMap((table) => {
    const [, ...lines] = readProc(`/proc/${pid}/net/${table}`)?.trim().split('\n') ?? [];
    return lines.flatMap((line) => {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      const [address = '', port = ''] = local.split(':');
      return state === listening ? [{ port: Number.parseInt(port, 16), host: hostOf(address), inode }] : [];
    });
  });
}

/** The inodes of the sockets that these processes have open. */
export function socketsOf(pids: readonly number[]): Set<string> {
  return new Set(pids.flatMap(socketInodes));
}

const listening = '0A';
const socket = /^socket:\[(\d+)\]$/;

/** The kernel prints addresses in words of four bytes, each in the byte order of the processor. */
function hostOf(hex: string): string {
  const bytes = Buffer.from(hex, 'hex').swap32();
  const isAny = bytes.every((byte) => byte === 0);
  if (bytes.length === 4) return isAny ? '127.0.0.1' : bytes.join('.');
  return isAny ? '::1' : (bytes.toString('hex').match(/.{4}/g)?.join(':') ?? '::1');
}

function socketInodes(pid: number): string[] {
  const descriptors = attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  const targets = descriptors.map((fd) => attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? '');
  return targets.flatMap((target) => socket.exec(target)?.[1] ?? []);
}
