// Stands in for a part of the MCP client that brings a JSON Schema validator of 150 KB: Lathe always gives its own.
export const CORS_IS_POSSIBLE = false;

export function DefaultJsonSchemaValidator() {
  throw new Error('the client was made without a validator');
}
