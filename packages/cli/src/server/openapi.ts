import { apiSchemas } from '@lathe/agent/client';
import type { Route, SchemaName } from './routes.js';

const always = {
  400: 'The body is not what the operation takes',
  401: 'The token is missing or wrong',
  403: 'The Host or Origin header is not that of this server',
  404: 'There is no such session',
  503: 'There is no model, or too much is open',
};

/** The OpenAPI document of these operations. */
export function openApi(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
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
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'What the server printed.' } },
      schemas: apiSchemas,
    },
  };
}

function operation({ name, path, summary, body, isBodyOptional, isStream, ...route }: Route): object {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, found = '']) => found);
  const inPath = names.map((each) => ({ name: each, in: 'path', required: true, schema: { type: 'string' } }));
  const schema = { type: 'integer', minimum: 0 };
  const from = [
    { name: 'Last-Event-ID', in: 'header', schema },
    { name: 'after', in: 'query', schema },
  ];
  return {
    operationId: name,
    summary,
    parameters: [...inPath, ...(isStream ? from : [])],
    ...(body && { requestBody: { required: !isBodyOptional, content: content(reference(body)) } }),
    responses: { [route.status]: success(route, isStream), ...failures(route.errors) },
  };
}

function success({ result, status }: Pick<Route, 'result' | 'status'>, isStream?: true): object {
  if (result === undefined) return { description: 'Done' };
  const schema = typeof result === 'string' ? reference(result) : listOf(result);
  return { description: status === 202 ? 'Accepted' : 'Done', content: content(schema, isStream) };
}

function listOf({ list, as, more = {} }: Exclude<Route['result'], SchemaName | undefined>): object {
  const properties = { [as]: { type: 'array', items: reference(list) }, ...more };
  return { type: 'object', required: Object.keys(properties), properties };
}

function failures(errors: Route['errors'] = {}): object {
  const all = Object.entries({ ...always, ...errors });
  return Object.fromEntries(
    all.map(([status, description]) => [status, { description, content: content(reference('problem')) }]),
  );
}

function content(schema: object, isStream?: true): object {
  return { [isStream ? 'text/event-stream' : 'application/json']: { schema } };
}

function reference(name: SchemaName): object {
  return { $ref: `#/components/schemas/${name}` };
}
