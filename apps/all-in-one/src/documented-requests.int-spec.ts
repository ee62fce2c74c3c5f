/**
 * Sends generated requests to every operation of docs/reference: valid and invalid requests, with valid, wrong and
 * missing credentials. Each response must have a documented status and a body that matches the documented schema.
 *
 * `SVC_GENERATED_REQUESTS=200` sends 200 invalid requests to each operation instead of 10, `SVC_GENERATED_SEED` repeats
 * the requests of a failed run, and `SVC_DOCS_EXAMPLES=1` regenerates docs/reference/examples.json.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Document, DocumentedApi, type Operation, type Request } from '@svc/testing/documented-api';
import fc from 'fast-check';
import { createDocumentedCallers, type DocumentedCaller } from '../test/documented-callers.js';
import { ExampleRecorder } from '../test/examples.js';
import { type MainApi, startMainApi } from '../test/main-api.js';

const REFERENCE_FOLDER = join(import.meta.dirname, '../../../docs/reference');
const INVALID_REQUESTS_PER_OPERATION = Number(process.env['SVC_GENERATED_REQUESTS'] ?? 10);
/** Requests that delete an object come last, because other requests need the object. */
const METHOD_ORDER = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

let api: MainApi;
let callers: DocumentedCaller[];
beforeAll(async () => {
  api = await startMainApi({ hostedGateway: true });
  callers = await createDocumentedCallers(api);
});
afterAll(async () => {
  const table = ['| Reference | Operations | Requests | Answers |', '|---|---|---|---|', ...reportRows].join('\n');
  process.stdout.write(`${table}\n`);
  if (process.env['SVC_DOCS_EXAMPLES'] === '1') examples.write(join(REFERENCE_FOLDER, 'examples.json'));
  await api?.stop();
});

const examples = new ExampleRecorder();
const reportRows: string[] = [];
/** The public keys of identity tokens, and the pages that a payer's browser opens for a verification. */
const PUBLIC_OPERATIONS = new Set(['jwksRead', 'returnedPayersReturned', 'browserDataShow', 'browserDataCharge']);

test.each(['partner', 'merchant', 'gateway', 'administration'] as const)(
  'every response of the %s API matches its reference',
  async (name) => {
    const caller = callers.find((candidate) => candidate.name === name)!;
    const document = new DocumentedApi(
      JSON.parse(readFileSync(join(REFERENCE_FOLDER, `${name}.openapi.json`), 'utf8')) as Document,
    );
    const operations = document.operations.toSorted(
      (a, b) => METHOD_ORDER.indexOf(a.method) - METHOD_ORDER.indexOf(b.method),
    );
    expect(operations.map(toEndpoint).sort()).toEqual([...new Set(caller.endpoints.map(withoutParameterNames))].sort());

    const [problems, statuses] = [new Set<string>(), new Map<number, number>()];
    const seed = Number(process.env['SVC_GENERATED_SEED'] ?? Date.now() % 1_000_000);
    const send = async (operation: Operation, request: Request, credentials: Readonly<Record<string, string>>) => {
      const { method, path, body } = request;
      const headers = { ...request.headers, ...credentials };
      const response = await caller.call({ method, path, headers, ...(body === undefined ? {} : { body }) });
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      const contentType = response.headers.get('content-type') ?? undefined;
      const responseProblems = document.findProblems(operation, {
        status: response.status,
        contentType,
        text: response.text,
      });
      if (response.status >= 500) responseProblems.push(`${response.status} ${response.text}`);
      for (const problem of responseProblems)
        problems.add(
          `${operation.operationId} (SVC_GENERATED_SEED=${seed}): ${problem}; ${method} ${path} ${body?.slice(0, 300) ?? ''}`,
        );
      return response;
    };
    for (const operation of operations) {
      const validRequest = document.validRequest(operation, caller.knownValues);
      const response = await send(operation, validRequest, caller.credentials);
      examples.record(name, operation, validRequest, response);
      if (response.status >= 300 && caller.reasonsForFailure[operation.operationId] === undefined)
        problems.add(
          `${operation.operationId} did not succeed: ${response.status} ${response.text}; ${validRequest.path} ${validRequest.body ?? ''}`,
        );
      for (const accept of operation.method === 'GET' ? otherMediaTypes(operation) : [])
        await send(operation, validRequest, { ...caller.credentials, accept });
      for (const credentials of caller.wrongCredentials) {
        const refusal = await send(operation, validRequest, credentials);
        examples.record(name, operation, validRequest, refusal);
        // The other callers' credentials are right for some operations; the tables who-may-do-what say for which.
        const isNever = name === 'administration' || Object.keys(credentials).length === 0;
        if (isNever && refusal.status !== 401 && !PUBLIC_OPERATIONS.has(operation.operationId))
          problems.add(`${operation.operationId} accepts wrong credentials: ${refusal.status} ${refusal.text}`);
      }
      for (const request of fc.sample(document.invalidRequests(operation, caller.knownValues), {
        numRuns: INVALID_REQUESTS_PER_OPERATION,
        seed,
      }))
        await send(operation, request, caller.credentials);
    }
    reportRows.push(newReportRow(name, operations.length, statuses));
    expect([...problems]).toEqual([]);
  },
);

function newReportRow(name: string, operations: number, statuses: ReadonlyMap<number, number>): string {
  const statusCounts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`);
  const requests = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  return `| ${name} | ${operations} | ${requests} | ${statusCounts.join(', ')} |`;
}

/** Method and path of an operation. Each path parameter is `:`, without its name. */
function toEndpoint({ method, path }: Operation): string {
  return withoutParameterNames(`${method} ${path}`);
}

function withoutParameterNames(endpoint: string): string {
  return endpoint
    .replace(/(dead-letters|status)\/\{?[\w-]+\}?/, '$1/:')
    .replaceAll(/\{\w+\}|:\w+|\*/g, ':')
    .replace('{service}', ':');
}

/** Content types of successful responses other than JSON. */
function otherMediaTypes({ responses }: Operation): string[] {
  const types = Object.entries(responses).flatMap(([status, { content }]) =>
    status.startsWith('2') ? Object.keys(content ?? {}) : [],
  );
  return [...new Set(types)].filter((type) => type !== 'application/json');
}
