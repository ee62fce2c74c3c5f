/**
 * Sends generated requests to every operation of the reference: with right, wrong and no credentials, valid and invalid. No response
 * may have an undocumented status, or a body that does not match its schema.
 *
 * `SVC_GENERATED_REQUESTS=200` sends more requests; `SVC_DOCS_EXAMPLES=1` regenerates docs/reference/examples.json.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Document, DocumentedApi, type Operation, type Request } from '@svc/testing/documented-api';
import fc from 'fast-check';
import { type DocumentedCaller, documentedCallers } from '../test/documented-callers.js';
import { Examples } from '../test/examples.js';
import { type MainApi, startMainApi } from '../test/main-api.js';

const FOLDER = join(import.meta.dirname, '../../../docs/reference');
const DAMAGED_OF_EACH = Number(process.env['SVC_GENERATED_REQUESTS'] ?? 10);
const ORDER = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

let api: MainApi;
let callers: DocumentedCaller[];
beforeAll(async () => {
  api = await startMainApi({ hostedGateway: true });
  callers = await documentedCallers(api);
});
afterAll(async () => {
  const table = ['| Reference | Operations | Requests | Answers |', '|---|---|---|---|', ...lines].join('\n');
  process.stdout.write(`${table}\n`);
  if (process.env['SVC_DOCS_EXAMPLES'] === '1') examples.write(join(FOLDER, 'examples.json'));
  await api?.stop();
});

const examples = new Examples();
const lines: string[] = [];

test.each(['partner', 'merchant', 'gateway', 'administration'] as const)(
  'every response matches the %s reference',
  async (name) => {
    const caller = callers.find((each) => each.name === name)!;
    const document = new DocumentedApi(
      JSON.parse(readFileSync(join(FOLDER, `${name}.openapi.json`), 'utf8')) as Document,
    );
    const operations = document.operations.toSorted((a, b) => ORDER.indexOf(a.method) - ORDER.indexOf(b.method));
    expect(operations.map(endpointOf).sort()).toEqual([...new Set(caller.endpoints.map(withoutNames))].sort());

    const [problems, statuses] = [new Set<string>(), new Map<number, number>()];
    const seed = Date.now() % 1_000_000;
    const send = async (operation: Operation, request: Request, credentials: Readonly<Record<string, string>>) => {
      const { method, path, body } = request;
      const headers = { ...request.headers, ...credentials };
      const answer = await caller.call({ method, path, headers, ...(body === undefined ? {} : { body }) });
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      const contentType = answer.headers.get('content-type') ?? undefined;
      const found = document.findProblems(operation, { status: answer.status, contentType, text: answer.text });
      if (answer.status >= 500) found.push(`${answer.status} ${answer.text}`);
      for (const problem of found)
        problems.add(
          `${operation.operationId} (seed ${seed}): ${problem}; ${method} ${path} ${body?.slice(0, 300) ?? ''}`,
        );
      return answer;
    };
    for (const operation of operations) {
      const good = document.validRequest(operation, caller.known);
      const answer = await send(operation, good, caller.credentials);
      examples.record(name, operation, good, answer);
      if (answer.status >= 300 && caller.neverDone[operation.operationId] === undefined)
        problems.add(
          `${operation.operationId} was never done: ${answer.status} ${answer.text}; ${good.path} ${good.body ?? ''}`,
        );
      for (const accept of operation.method === 'GET' ? formsOf(operation) : [])
        await send(operation, good, { ...caller.credentials, accept });
      for (const credentials of caller.wrong)
        examples.record(name, operation, good, await send(operation, good, credentials));
      for (const request of fc.sample(document.invalidRequests(operation, caller.known), {
        numRuns: DAMAGED_OF_EACH,
        seed,
      }))
        await send(operation, request, caller.credentials);
    }
    lines.push(lineOf(name, operations.length, statuses));
    expect([...problems]).toEqual([]);
  },
);

function lineOf(name: string, operations: number, statuses: ReadonlyMap<number, number>): string {
  const counted = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`);
  const requests = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  return `| ${name} | ${operations} | ${requests} | ${counted.join(', ')} |`;
}

/** Without the names of the parameters. */
function endpointOf({ method, path }: Operation): string {
  return withoutNames(`${method} ${path}`);
}

function withoutNames(endpoint: string): string {
  return endpoint
    .replace(/dead-letters\/[\w-]+/, 'dead-letters/:')
    .replace('dead-letters/:}', 'dead-letters/:')
    .replaceAll(/\{\w+\}|:\w+|\*/g, ':')
    .replace('{service}', ':');
}

/** Content types of successful responses other than JSON. */
function formsOf({ responses }: Operation): string[] {
  const types = Object.entries(responses).flatMap(([status, { content }]) =>
    status.startsWith('2') ? Object.keys(content ?? {}) : [],
  );
  return [...new Set(types)].filter((type) => type !== 'application/json');
}
