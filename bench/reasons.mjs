// Why a peer is ahead, or a goal is missed: shown in RESULTS.md beside the case, as long as it is so.

const durable =
  'Lathe flushes the change to the disk and can undo it; the others report success while it is still in memory.';
const filtered = 'Lathe removes secrets, files under deny rules and files that agents must not see from the answer.';
const named = `${filtered} Raw ripgrep does not apply ignore rules to files that -g names; with the same glob as a file type, which does apply them, it takes 1.2 × as long.`;
const counted =
  'After the hundredth match Lathe searches for 5 ms more: most searches end in this time, and then the total is known.';
const dated =
  'Lathe lists the newest files first, so it reads the time of every match; plain ripgrep reads none, and pi shows the first 1,000 files in no order.';

/** @type {Record<string, string>} By the name of the case. */
export const reasons = {
  'edit one hit in 88 KB': durable,
  'edit one hit in 10 MB': durable,
  'edit every one of 11,000 hits in 10 MB': durable,
  'edit what is not in 10 MB': 'Lathe also looks for the most similar text in the whole file.',
  'write 10 MB over 10 MB': `${durable} It also hashes both contents, keeps the old one for undo and reads the new one back; raw does none of this.`,
  'grep a rare literal in a kernel tree': filtered,
  'grep a rare literal in a kernel tree for the first time': filtered,
  'grep in *.c of a kernel tree': named,
  'grep in *.c of a kernel tree for the first time': named,
  'grep a literal in a TypeScript tree': filtered,
  'grep a literal in 500 source files': filtered,
  'grep a literal in 5,000 source files': filtered,
  'grep 20,000 hits, first 100, in a kernel tree': counted,
  'grep a literal in 50,000 source files': counted,
  'grep a literal in 100,000 files of one folder': filtered,
  'glob **/* of a kernel tree, newest first': dated,
  'glob **/*.c of a kernel tree, newest first': dated,
  'glob **/*.ts of 500 source files': dated,
  'glob **/*.ts of 5,000 source files': dated,
  'glob **/*.ts of 50,000 source files': dated,
  'glob *.txt of 100,000 files in one folder': dated,
  'list a folder of 100,000 files':
    'Lathe lists directories first, so it looks at every entry; pi looks only at those it shows.',
  'read a small file':
    'Lathe checks the path, the rules and the ignore files, and remembers which content the model has seen.',
  'a call of a tool that does nothing': 'Lathe checks each call against the rules and writes it to the audit log.',
  'snapshot of a kernel tree after one edit': 'Lathe also writes the tree of the snapshot; git status writes nothing.',
  '99 of 100 events from a session to the frame that shows them while a command prints 50 MB':
    'The browser draws without a graphics card, on the same two cores as the command.',
  'print the version': 'Codex is a compiled program; Node alone takes longer to start.',
  'run echo hi':
    'Lathe marks a command before it runs, and looks for remaining processes when it ends. Its sandbox shows a list of places instead of the whole disk: some 40 mounts, where the smallest sandbox has five.',
  '50 reads in one turn': 'Lathe checks each read against the rules, and writes it to the audit log and the session.',
  'tokens of the first request':
    'pi offers four tools, Lathe fourteen: among them search, the web, memory and subagents.',
  packages: 'The others are one program built for one platform.',
  'resume a session of 200 MB':
    'Lathe parses every record, compares its checksum and shows where the session can go back to.',
};
