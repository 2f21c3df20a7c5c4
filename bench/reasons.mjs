// Why a peer is ahead, or a goal is missed: shown in RESULTS.md beside the case, as long as it is so.

const durable = 'Our change is flushed to the disk and can be taken back; theirs is in memory when they report it.';
const filtered =
  'Secrets, deny rules and ignore files of agents are taken out of the answer; the names of a glob are compared after the rules.';
const counted =
  'After the hundredth match the search goes on for 5 ms, because most then end and the total can be said.';
const dated = 'The newest come first, so the time of every match is asked for; plain ripgrep asks for none.';

/** @type {Record<string, string>} By the name of the case. */
export const reasons = {
  'edit one hit in 88 KB': durable,
  'edit what is not in 10 MB': 'The whole file is also searched for what is most like the text that was asked for.',
  'write 10 MB over 10 MB': `${durable} The old content is kept for undo and the new one compared after the write; raw does neither.`,
  'grep a rare literal in a kernel tree': filtered,
  'grep a rare literal in a kernel tree for the first time': filtered,
  'grep in *.c of a kernel tree': filtered,
  'grep in *.c of a kernel tree for the first time': filtered,
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
    'Directories come first, so that every entry is looked at; pi looks at those it shows.',
  'print the version': 'Codex is a compiled program; the start of Node alone takes longer.',
  'run echo hi': 'A command is marked before it runs, and when it is over a look tells whether anything of it is left.',
  '50 reads in one turn': 'Each read is judged, recorded and written to the session before it is answered.',
  'tokens of the first request': 'pi offers four tools, we thirteen: among them search, the web, memory and subagents.',
  packages: 'Theirs is one program built for one platform.',
  'resume a session of 200 MB':
    'Every record is parsed and its checksum compared; the program shows where it can go back to.',
};
