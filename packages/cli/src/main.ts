#!/usr/bin/env node
// Prints --version without loading the rest of the program.
import { loadProgram } from './load-program.js';

declare const LATHE_VERSION: string;

const args = process.argv.slice(2);
if (args.length === 1 && (args[0] === '--version' || args[0] === '-v')) {
  console.log(LATHE_VERSION);
} else {
  void loadProgram()
    .run(args, LATHE_VERSION)
    .then((code) => (process.exitCode = code));
}
