/** What went wrong with a model, in terms a caller can act on. Messages never contain a key. */
export type ModelErrorKind =
  /** 401, 403: no key, a wrong key, or no access to this model. */
  | 'auth'
  /** The account has no money or quota left; waiting does not help. */
  | 'quota'
  /** The model or the endpoint does not exist. */
  | 'not-found'
  /** The request does not fit into the context window: compact and ask again. */
  | 'too-long'
  | 'bad-request'
  | 'rate-limit'
  | 'overloaded'
  /** No connection, or it broke. */
  | 'network'
  | 'tls'
  /** Nothing arrived for too long, or the answer did not end. */
  | 'timeout'
  /** The server answered, but not like a model. */
  | 'bad-response';

/** Why a model gave no answer. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly kind: ModelErrorKind;
  readonly status: number | undefined;
  /** The delay that the server asked for. */
  readonly retryAfterMs: number | undefined;
  /** Whether the same request may succeed when it is sent again. */
  readonly isTransient: boolean;

  constructor(
    kind: ModelErrorKind,
    message: string,
    options: ErrorOptions & {
      status?: number | undefined;
      retryAfterMs?: number | undefined;
      isTransient?: boolean;
    } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.isTransient = options.isTransient ?? transient.has(kind);
  }
}

const transient: ReadonlySet<ModelErrorKind> = new Set(['rate-limit', 'overloaded', 'network', 'timeout']);
