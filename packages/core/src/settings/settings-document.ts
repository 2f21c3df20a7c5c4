import { allSettings, type KnownSetting } from './keys.js';
import { describeShape, type Shape } from './shape.js';

/** The table of docs/settings.md: every setting with its values, its default, and whether a workspace may set it. */
export function settingsDocument(): string {
  return ['| Setting | Value | Default | In a workspace file |', '|---|---|---|---|', ...allSettings.map(row)].join(
    '\n',
  );
}

function row(setting: KnownSetting): string {
  const { key, also, shape, fallback, description, env } = setting;
  const names = also.length === 0 ? '' : `<br>also ${also.map((name) => `\`${name}\``).join(', ')}`;
  const variable = env === undefined ? '' : `<br>variable \`${env}\``;
  const usual = fallback === undefined ? '–' : `\`${JSON.stringify(fallback)}\``;
  return `| \`${key}\`<br>${description}${names}${variable} | ${valueText(shape)} | ${usual} | ${workspaceText(setting)} |`;
}

function valueText(shape: Shape): string {
  return shape.is === 'map' ? 'an object of names, described below' : describeShape(shape);
}

function workspaceText({ workspace, merge }: KnownSetting): string {
  if (workspace === 'never') return 'never';
  if (workspace === 'free') return merge === 'replace' ? 'when trusted' : 'when trusted, adds';
  if (merge === 'union') return 'always, adds';
  return 'only stricter';
}
