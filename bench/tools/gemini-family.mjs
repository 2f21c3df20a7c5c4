// What Gemini CLI and Qwen Code, which came from it, have in common.

/** Options of their `Config` for calls that nobody watches. */
export const unattended = (root, model) => ({
  sessionId: 'bench',
  targetDir: root,
  cwd: root,
  debugMode: false,
  model,
  interactive: false,
  trustedFolder: true,
  approvalMode: 'yolo',
  telemetry: { enabled: false },
  usageStatisticsEnabled: false,
});

/** What a model would be sent of a result. */
export function textOf({ llmContent, error }) {
  if (error) throw new Error(error.message);
  return [llmContent]
    .flat()
    .map((part) => (typeof part === 'string' ? part : (part?.text ?? '')))
    .join('');
}
