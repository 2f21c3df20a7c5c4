/**
 * Parts for host programs such as our agent and our command line, beyond what people who write tools need. They may
 * change between minor versions.
 */

export { responseText } from './contract/content.js';
export type { PlanSummary, TaskExecution, TodoList } from './contract/display.js';
export { uniqueId } from './contract/tool-call.js';
export { callSpan, parentSpan, type Span, type Tracer } from './contract/trace.js';
export { toolFileNames } from './discovery/tool-files.js';
export { sensitivityOf } from './files/access/sensitive-files.js';
export { osPath } from './files/file-name.js';
export { makeDirectory } from './files/make-directory.js';
export type { UndoOutcome } from './files/undo/undo.js';
export { isWithin } from './files/workspace.js';
export { type Hook, Hooks } from './hooks/hooks.js';
export type { HookAnswer, PromptHooks } from './hooks/prompt-hooks.js';
export type { ConsentedSource, Extension, OpenedParts } from './lathe/extension.js';
export { homeDirectories, personalFolders } from './lathe/home-directories.js';
export { type StateKind, type StateSize, stateKinds } from './lathe/retention.js';
export { secretsOf } from './lathe/secrets-of.js';
export { describePlugin, describeUpdate } from './plugins/describe-plugin.js';
export { fetchPlugin, type PluginSource, parseSource } from './plugins/fetch-plugin.js';
export { type InstalledPlugin, InstalledPlugins } from './plugins/installed-plugins.js';
export { filesHash, type PluginFiles, readTree } from './plugins/plugin-files.js';
export { ownFolder, readPlugin } from './plugins/read-plugin.js';
export { AgreedRules } from './policy/agreed-rules.js';
export { Consent, definitionHash } from './policy/consent.js';
export type { Exposure } from './policy/exposure.js';
export { FolderTrust } from './policy/folder-trust.js';
export { matchesName } from './policy/match-name.js';
export { canonicalName } from './policy/rule.js';
export { unknownTools } from './policy/unknown-tools.js';
export { matchCommandRule } from './process/rules/command-rule.js';
export type { BackgroundCommand } from './process/run/background.js';
export { trustedPath } from './process/run/trusted-path.js';
export type { RestorePlan } from './rewind/plan-restore.js';
export type { RestoreOutcome } from './rewind/restore-files.js';
export type { Rewind } from './rewind/rewind.js';
export type { WorkspaceSnapshot } from './rewind/snapshot-store.js';
export { approvalText, grantableRules } from './scheduler/approval-text.js';
export { type ConsentGate, ConsentRefused, type ConsentRequest } from './scheduler/ask-consent.js';
export { loadSettings } from './settings/load-settings.js';
export { unagreedRules } from './settings/merge-layers.js';
export { readBounded } from './settings/read-bounded.js';
export { projectSettings, saveSetting, userSettings } from './settings/save-setting.js';
export { showSetting } from './settings/show-setting.js';
export { closestNames } from './text/closest-names.js';
export { parseFrontMatter } from './text/front-matter.js';
export { parseArguments } from './text/parse-arguments.js';
export { redact, redactedJson } from './text/redact.js';
export { boundsProblem, describeMismatch } from './text/schema/json-schema.js';
export { schemaProblem } from './text/schema/schema-check.js';
export { keepEnds } from './text/truncate.js';
export { hasHiddenText, visibleText } from './text/visible-text.js';
export { builtIn, NotTrusted } from './tools/tool-registry.js';
export { markOrigin } from './web/page/mark-origin.js';
