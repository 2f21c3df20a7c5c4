import { stateKinds } from '@lathe/core/host';
import { approvalModes, shownMode } from '../command-line/approval-modes.js';
import { flagNames, outputFormats, sandboxModes, UsageError } from '../command-line/args.js';
import { commandNames } from '../command-line/command-names.js';
import { exitCodes } from '../command-line/exit-codes.js';
import { auditFlags } from './audit.js';
import { cleanFlags } from './clean.js';
import type { Command } from './command.js';

const words = commandNames.join(' ');
const flags = flagNames.join(' ');
const modes = approvalModes.map(shownMode).join(' ');
const formats = outputFormats.join(' ');
const sandboxes = sandboxModes.join(' ');
const kinds = stateKinds.join(' ');
const flagList = (known: object) => Object.keys(known).map((name) => `--${name}`);
const cleanFlagNames = flagList(cleanFlags).join(' ');
const auditFlagNames = flagList(auditFlags).join(' ');

/** The script runs `lathe tools` and `lathe sessions` when it needs their names: the first word of each line. */
const bash = `_lathe() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} list
  case $before in
    --approval-mode) list='${modes}' ;;
    --output-format|-o) list='${formats}' ;;
    --sandbox) list='${sandboxes}' ;;
    --cwd) COMPREPLY=($(compgen -d -- "$word")); return ;;
    --resume|-r) list=$(lathe sessions 2>/dev/null | cut -d' ' -f1) ;;
    remove|test|auth)
      if [ "\${COMP_WORDS[COMP_CWORD-2]}" = mcp ]; then list=$(lathe mcp list 2>/dev/null | grep -F '  (' | cut -d' ' -f1); fi ;;
    call) list=$(lathe tools 2>/dev/null | cut -d' ' -f1 | grep -E '^[A-Za-z_][A-Za-z0-9_-]*$') ;;
    mcp) list='add list remove test auth' ;;
    plugin) list='add list remove update' ;;
    completion) list='bash zsh fish' ;;
    clean) list='${kinds} ${cleanFlagNames}' ;;
    audit) list='${auditFlagNames}' ;;
    --tool) list=$(lathe tools 2>/dev/null | cut -d' ' -f1 | grep -E '^[A-Za-z_][A-Za-z0-9_-]*$') ;;
    --session) list=$(lathe sessions 2>/dev/null | cut -d' ' -f1) ;;
    *) case $word in -*) case \${COMP_WORDS[1]} in
          clean) list='${cleanFlagNames}' ;; audit) list='${auditFlagNames}' ;; *) list='${flags}' ;; esac ;; *) if [ "$COMP_CWORD" -eq 1 ]; then list='${words}'; fi ;; esac ;;
  esac
  COMPREPLY=($(compgen -W "$list" -- "$word"))
}
complete -o default -F _lathe lathe`;

/** Zsh can run bash completion functions. */
const zsh = `autoload -U +X bashcompinit && bashcompinit
${bash}`;

const fish = `complete -c lathe -n __fish_use_subcommand -f -a '${words}'
complete -c lathe -n '__fish_seen_subcommand_from call' -f -a "(lathe tools 2>/dev/null | string split -f1 ' ')"
complete -c lathe -n '__fish_seen_subcommand_from mcp; and not __fish_seen_subcommand_from remove test auth' -f -a 'add list remove test auth'
complete -c lathe -n '__fish_seen_subcommand_from mcp; and __fish_seen_subcommand_from remove test auth' -f -a "(lathe mcp list 2>/dev/null | string match '*  (*' | string split -f1 ' ')"
complete -c lathe -n '__fish_seen_subcommand_from plugin' -f -a 'add list remove update'
complete -c lathe -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'
complete -c lathe -n '__fish_seen_subcommand_from clean' -f -a '${kinds} ${cleanFlagNames}'
complete -c lathe -n '__fish_seen_subcommand_from audit' -f -a '${auditFlagNames}'
complete -c lathe -l approval-mode -x -a '${modes}'
complete -c lathe -l output-format -s o -x -a '${formats}'
complete -c lathe -l sandbox -x -a '${sandboxes}'
complete -c lathe -l resume -s r -x -a "(lathe sessions 2>/dev/null | string split -f1 ' ')"
${flagNames
  .filter((flag) => !['--approval-mode', '--output-format', '--sandbox', '--resume'].includes(flag))
  .map((flag) => `complete -c lathe -l ${flag.slice(2)}`)
  .join('\n')}`;

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish };

/** `lathe completion bash` prints a completion script for a shell. */
export const command: Command = {
  maxOperands: 1,
  async run({ operands: [shell = ''] }, io) {
    const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
    if (script === undefined) throw new UsageError('lathe completion needs a shell: bash, zsh or fish');
    io.out(script);
    return exitCodes.success;
  },
};
