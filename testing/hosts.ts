import { execFileSync } from 'node:child_process';

/** Machines in network namespaces of their own, joined by a bridge on which the test is reached as `address`. */
export interface Hosts {
  address: string;
  /** What a command on a host begins with. */
  prefixes: readonly (readonly string[])[];
  /** Takes a host off the network; packets of open connections are lost. */
  cut(host: number): void;
  heal(host: number): void;
  close(): void;
}

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' });

let made = 0;

/** Undefined where namespaces cannot be made: without root or the program `ip`. */
export function makeHosts(count: number): Hosts | undefined {
  // Processes that end slowly keep their network for a while, so each call makes names of its own.
  const number = process.pid * 7 + made++;
  const id = number.toString(36).slice(-5);
  const net = `10.${60 + (number % 190)}.${Math.floor(number / 190) % 250}`;
  const bridge = `lb${id}`;
  const names = Array.from({ length: count }, (_, at) => `lh${id}-${at}`);
  const close = () => {
    for (const args of [...names.map((name) => ['netns', 'del', name]), ['link', 'del', bridge]])
      try {
        ip(...args);
      } catch {
        // It was not made.
      }
  };
  try {
    ip('link', 'add', bridge, 'type', 'bridge');
    ip('addr', 'add', `${net}.1/24`, 'dev', bridge);
    ip('link', 'set', bridge, 'up');
    for (const [at, name] of names.entries()) {
      ip('netns', 'add', name);
      ip('link', 'add', `${bridge}-${at}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
      ip('link', 'set', `${bridge}-${at}`, 'master', bridge, 'up');
      ip('-n', name, 'addr', 'add', `${net}.${at + 2}/24`, 'dev', 'eth0');
      ip('-n', name, 'link', 'set', 'eth0', 'up');
      ip('-n', name, 'link', 'set', 'lo', 'up');
    }
  } catch {
    close();
    return undefined;
  }
  return {
    address: `${net}.1`,
    prefixes: names.map((name) => ['ip', 'netns', 'exec', name]),
    cut: (host) => ip('link', 'set', `${bridge}-${host}`, 'down'),
    heal: (host) => ip('link', 'set', `${bridge}-${host}`, 'up'),
    close,
  };
}
