/**
 * Exactly two kinds of failure exist: a `ToolError`, a typed sentence the model can act on, and everything else, which
 * is a bug and is reported as `unhandled_exception`.
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly type: ToolErrorType;

  constructor(type: ToolErrorType, message: string, options?: ErrorOptions) {
    super(message, options);
    this.type = type;
  }
}

/** By its shape, because a package of tools may bring its own copy of this class. */
export function isToolError(thrown: unknown): thrown is ToolError {
  return (
    thrown instanceof Error &&
    thrown.name === 'ToolError' &&
    'type' in thrown &&
    toolErrorTypes.some((type) => type === thrown.type)
  );
}

/** The message of whatever was thrown. */
export function thrownText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** What a function returns, or `undefined` if it throws. */
export function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/** The wire values; scripts and models compare them, so they never change. */
export type ToolErrorType = (typeof toolErrorTypes)[number];

/** docs/error-types.md is made from this list and its comments. */
export const toolErrorTypes = [
  // any tool
  'invalid_tool_params', // The parameters do not match the schema, or a value is not possible.
  'tool_not_registered', // No tool has this name.
  'execution_denied', // A rule, a mode, a hook or a person denied the call.
  'execution_failed', // The tool ran and failed. A command ended with an exit code above 0.
  'execution_timeout', // The call took longer than its timeout.
  'output_truncated', // For tools of your own: the output is too long to be useful.
  'unhandled_exception', // A bug: the tool threw something other than a `ToolError`.
  'unknown', // For tools of your own: nothing else fits.
  // files
  'file_not_found', // The file does not exist.
  'file_too_large', // The file is over a limit.
  'file_write_failure', // The file could not be written.
  'read_content_failure', // The file could not be read, or its content is not what its type says.
  'attempt_to_create_existing_file', // The call would create a file that exists.
  'permission_denied', // The operating system denies the access, or the address is not public.
  'no_space_left', // The disk or the quota is full.
  'target_is_directory', // The path names a directory, not a file.
  'target_not_regular_file', // The path names a pipe, a socket or a device.
  'path_not_in_workspace', // The path is outside the workspace and nobody approved it.
  'file_changed_since_read', // Somebody changed the file after the model read it or a person approved the change.
  'edit_requires_prior_read', // The model has to read the file before it changes it.
  'edit_preparation_failure', // The change cannot be made: a binary file, a character that the encoding lacks, a placeholder.
  'edit_no_occurrence_found', // The file does not contain `old_string`.
  'edit_expected_occurrence_mismatch', // `old_string` is in the file more or less often than expected.
  'edit_no_change', // The file already is as the call wants it.
  // search
  'search_path_not_found', // The path to search does not exist.
  'search_path_not_a_directory', // The path to search is not a directory.
  'path_is_not_a_directory', // The path to list, or the directory of a command, is not a directory.
  'glob_execution_error', // For tools of your own: a search for files failed.
  'grep_execution_error', // ripgrep failed.
  'ls_execution_error', // The directory could not be listed.
  'read_many_files_search_error', // For tools of your own: a search for files to read failed.
  // processes and servers
  'shell_execute_error', // The command could not be started or watched.
  'sandbox_unavailable', // The sandbox is required and does not work here.
  'discovered_tool_execution_error', // The program behind a discovered tool failed.
  'mcp_tool_error', // The MCP server reports an error, or does not answer.
  // web
  'web_fetch_fallback_failed', // The page could not be fetched.
  'web_fetch_processing_error', // The page could not be turned into text.
  'web_search_failed', // No search engine answered.
  // agent
  'memory_tool_execution_error', // The memory file could not be written.
] as const;
