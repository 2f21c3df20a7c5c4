import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Whether a program that npm cannot bring is installed. Use as `test.skipIf(!hasProgram('bwrap'))`; list it in scripts/programs.json. */
export function hasProgram(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
