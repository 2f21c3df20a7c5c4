/** What one sandboxed command may use; −1 for no limit. */
export interface ResourceLimits {
  /** Processes and threads of the sandbox. The kernel does not hold root to it. */
  processes: number;
  /** Memory of one process. */
  memoryMb: number;
  /** Size of one file. */
  fileMb: number;
}

/** Memory has no limit unless it is set: sanitizers and race detectors reserve terabytes that they never use. */
export const usualLimits: ResourceLimits = { processes: 4096, memoryMb: -1, fileMb: 16_384 };

/**
 * Shell text that sets the limits, which whatever the shell starts inherits. When the machine runs out of memory, the
 * kernel ends the command before it ends anything else.
 */
export function setLimits({ processes, memoryMb, fileMb }: ResourceLimits): string {
  const limits = [
    // Inside a sandbox only the sandbox's own processes count.
    processes >= 0 && `ulimit -u ${processes}`,
    // Not the address space, of which Node and Java reserve much more than they use.
    memoryMb >= 0 && `ulimit -d ${memoryMb * 1024}`,
    fileMb >= 0 && `ulimit -f ${fileMb * blocksPerMb}`,
    'echo 1000 >/proc/self/oom_score_adj',
  ];
  return `{ ${limits.filter((limit) => limit !== false).join('; ')}; } 2>/dev/null; `;
}

/** Bash counts blocks of 1,024 bytes; dash, blocks of 512. */
const blocksPerMb = 1024;
