import type { Settings } from '@lathe/core';
import type { RemoteModelOptions } from '../http/remote-model.js';
import type { Model } from '../model.js';
import type { LocalServerName } from './local.js';
import type { ModelSetup } from './model-setup.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a model can be chosen from. */
export interface ModelSources {
  /** `--model`: a name, or `provider/name`. Comes before everything else. */
  name?: string | undefined;
  /** `model.*`. The settings never take the address that keys are sent to from a workspace. */
  settings?: Partial<Settings['model']> | undefined;
  env: Environment;
  /** Lathe's own folder. Packages of providers are installed in `packages` below it. */
  home?: string | undefined;
  /** Where to look for local servers instead of their usual ports. */
  localAddresses?: Partial<Record<LocalServerName, string>>;
  /** Passed on to the model. */
  options?: Pick<RemoteModelOptions, 'limits' | 'retry'>;
}

/** The model that was chosen, or how to set one up. */
export type ModelChoice =
  /** `origin` says in one phrase why this one; `notes` are worth showing once. */
  { status: 'chosen'; model: Model; origin: string; notes: string[] } | { status: 'none'; setup: ModelSetup };
