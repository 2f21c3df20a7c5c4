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

/** The wire values; scripts and models compare them, so they never change. */
export type ToolErrorType = (typeof toolErrorTypes)[number];

export const toolErrorTypes = [
  // any tool
  'invalid_tool_params',
  'tool_not_registered',
  'execution_denied',
  'execution_failed',
  'execution_timeout',
  'output_truncated',
  'unhandled_exception',
  'unknown',
  // files
  'file_not_found',
  'file_too_large',
  'file_write_failure',
  'read_content_failure',
  'attempt_to_create_existing_file',
  'permission_denied',
  'no_space_left',
  'target_is_directory',
  'target_not_regular_file',
  'path_not_in_workspace',
  'file_changed_since_read',
  'edit_requires_prior_read',
  'edit_preparation_failure',
  'edit_no_occurrence_found',
  'edit_expected_occurrence_mismatch',
  'edit_no_change',
  // search
  'search_path_not_found',
  'search_path_not_a_directory',
  'path_is_not_a_directory',
  'glob_execution_error',
  'grep_execution_error',
  'ls_execution_error',
  'read_many_files_search_error',
  // processes and servers
  'shell_execute_error',
  'sandbox_unavailable',
  'discovered_tool_execution_error',
  'mcp_tool_error',
  // web
  'web_fetch_fallback_failed',
  'web_fetch_processing_error',
  'web_search_failed',
  // agent
  'memory_tool_execution_error',
] as const;
