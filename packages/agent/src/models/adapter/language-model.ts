/**
 * The part of the AI SDK's language models (specifications v2, v3 and v4) that Lathe uses, by structure: any object of
 * this shape will do, whatever package it comes from.
 */
export interface LanguageModel {
  /** `v2`, `v3` or `v4`. */
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doStream(options: LanguageModelOptions): PromiseLike<{ stream: PartStream }>;
}

/** A `ReadableStream` of any runtime. */
export interface PartStream {
  getReader(): {
    read(): PromiseLike<{ done: boolean; value?: unknown }>;
    cancel(): PromiseLike<unknown>;
  };
}

/** What Lathe passes to `doStream`. Each version has other types for messages and tools; `never` fits all of them. */
export interface LanguageModelOptions {
  prompt: never[];
  tools?: never[];
  abortSignal: AbortSignal;
}

/** The versions whose shapes are known. */
export const specificationVersions = ['v2', 'v3', 'v4'] as const;
export type SpecificationVersion = (typeof specificationVersions)[number];
