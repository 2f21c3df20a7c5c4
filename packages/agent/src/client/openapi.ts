import { type ApiOperation, apiOperations, type SchemaName } from './api-operations.js';
import { apiSchemas } from './api-schemas.js';

const failures = {
  400: 'The body is not what the operation takes',
  401: 'The token is missing or wrong',
  403: 'The Host or Origin header is not that of this server',
  404: 'There is no such session',
  409: 'Not now: the session is at work, or is not, or the question is answered',
  422: 'There is no such model or answer',
  503: 'There is no model, or too much is open',
};

/** The OpenAPI document of the server. */
export function openApi(): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, each] of Object.entries<ApiOperation>(apiOperations))
    paths[each.path] = { ...paths[each.path], [each.method.toLowerCase()]: operation(name, each) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lathe agent server',
      version: '1',
      summary: 'Sessions of a coding agent, over HTTP on the same machine: `lathe serve --agent`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:{port}', variables: { port: { default: '4096' } } }],
    security: [{ token: [] }],
    paths,
    components: {
      responses: Object.fromEntries(
        Object.entries(failures).map(([code, description]) => [
          `error${code}`,
          { description, content: content(reference('problem')) },
        ]),
      ),
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'What the server printed.' } },
      schemas: apiSchemas,
    },
  };
}

function operation(name: string, described: ApiOperation): object {
  const { path, summary, body, isBodyOptional, isStream, result, status } = described;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, each]) => parameter(each, 'path', 'string'));
  const from = [parameter('Last-Event-ID', 'header', 'integer'), parameter('after', 'query', 'integer')];
  const success = { description: 'Done', ...(result && { content: content(schemaOf(result), isStream) }) };
  const failed = Object.keys(failures).map((code) => [code, { $ref: `#/components/responses/error${code}` }]);
  return {
    operationId: name,
    summary,
    parameters: [...inPath, ...(isStream ? from : [])],
    ...(body && { requestBody: { required: !isBodyOptional, content: content(reference(body)) } }),
    responses: { [status ?? (result ? 200 : 204)]: success, ...Object.fromEntries(failed) },
  };
}

function parameter(name: string | undefined, place: 'path' | 'query' | 'header', type: 'string' | 'integer'): object {
  return {
    name,
    in: place,
    ...(place === 'path' && { required: true }),
    schema: { type, ...(type === 'integer' && { format: 'int64' }) },
  };
}

function schemaOf(result: NonNullable<ApiOperation['result']>): object {
  if (typeof result === 'string') return reference(result);
  const properties = { [result.as]: { type: 'array', items: reference(result.list) }, ...result.more };
  return { type: 'object', required: Object.keys(properties), properties };
}

function content(schema: object, isStream?: true): object {
  return { [isStream ? 'text/event-stream' : 'application/json']: { schema } };
}

function reference(name: SchemaName): object {
  return { $ref: `#/components/schemas/${name}` };
}
