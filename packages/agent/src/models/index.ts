export { fromLanguageModel, type LanguageModelDetails } from './adapter/from-language-model.js';
export type { LanguageModel } from './adapter/language-model.js';
export { chooseModel } from './choose/choose-model.js';
export { checkModel, type FoundModel, findModels } from './choose/find-models.js';
export { formatModelSetup, type ModelSetup } from './choose/model-setup.js';
export type { ModelChoice, ModelSources } from './choose/model-sources.js';
export { type Provider, providers } from './choose/providers.js';
export { serverModels } from './choose/server-models.js';
export { estimateMessageTokens, estimateRequestTokens, estimateTokens } from './estimate-tokens.js';
export type {
  FinishReason,
  Message,
  Model,
  ModelEvent,
  ModelFeatures,
  ModelIdentity,
  ModelRequest,
  ReceivedCall,
  Usage,
} from './model.js';
export { type Effort, efforts } from './model.js';
export { ModelError, type ModelErrorKind } from './model-error.js';
export { openPriceList, type Price, type PriceList } from './prices.js';
export { RecordingWriter, recordModel } from './replay/recording.js';
export { ReplayModel } from './replay/replay-model.js';
export { ScriptedModel, type ScriptedTurn, type ScriptStep } from './replay/scripted.js';
export { closestLevel } from './wire/effort.js';
