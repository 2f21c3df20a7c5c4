import type { ClientOptions } from '@modelcontextprotocol/client';
import { describeMismatch } from '../../text/schema/json-schema.js';
import { schemaProblem } from '../../text/schema/schema-check.js';

/**
 * Checks structured results with our bounded validator, because a pattern of a hostile server must not block the
 * program. A schema that we cannot use is not checked; results are never trusted anyway.
 */
export const outputValidator: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator: (schema) => {
    const isUsable = schemaProblem(schema) === null;
    return (input) => {
      const mismatch = isUsable ? describeMismatch(schema, input) : null;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the type its schema stands for
      if (mismatch === null) return { valid: true, data: input as never, errorMessage: undefined };
      return { valid: false, data: undefined, errorMessage: mismatch };
    };
  },
};
