/**
 * Sends generated requests to every operation in docs/reference/transformer.openapi.json. No response may have an
 * undocumented status, or a body that does not match its schema.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Document, DocumentedApi, type Operation, type Request } from '@svc/testing/documented-api';
import fc from 'fast-check';
import { LINE, PRODUCT, SITE, TestTransformer } from '../test/test-transformer.js';

const FILE = join(import.meta.dirname, '../../../docs/reference/transformer.openapi.json');
const INVALID_REQUESTS_PER_OPERATION = Number(process.env['SVC_GENERATED_REQUESTS'] ?? 20);
const KEY = 'a-key-of-the-store';

let pos: TestTransformer;
beforeEach(async () => (pos = await TestTransformer.start({ apiKey: KEY })));
afterEach(() => pos.stop());

test('every response matches the reference of the transformer', async () => {
  const document = new DocumentedApi(JSON.parse(readFileSync(FILE, 'utf8')) as Document);
  const authorised = { 'x-api-key': KEY };
  const known = { ...(await createPaidBasket()), ...KNOWN_FIELDS };
  const [problems, statuses] = [new Set<string>(), new Map<number, number>()];
  const seed = Number(process.env['SVC_GENERATED_SEED'] ?? Date.now() % 1_000_000);
  const send = async (operation: Operation, request: Request, headers: Record<string, string>): Promise<number> => {
    const {
      statusCode: status,
      payload: text,
      headers: received,
    } = await pos.transformer.app.inject({
      method: request.method as 'GET',
      url: request.path,
      headers: { host: 'localhost', ...request.headers, ...headers },
      ...(request.body === undefined ? {} : { payload: request.body }),
    });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const found = document.findProblems(operation, { status, contentType: received['content-type'], text });
    if (status >= 500) found.push(`${status} ${text}`);
    for (const problem of found)
      problems.add(
        `${operation.operationId} (SVC_GENERATED_SEED=${seed}): ${problem}; ${request.path} ${request.body?.slice(0, 300) ?? ''}`,
      );
    return status;
  };
  for (const operation of document.operations) {
    const validRequest = document.validRequest(operation, known);
    const status = await send(operation, validRequest, authorised);
    if (status !== 200)
      problems.add(
        `${operation.operationId} refused a valid request: ${status}; ${validRequest.path} ${validRequest.body ?? ''}`,
      );
    for (const headers of [{}, { 'x-api-key': 'wrong' }, { ...authorised, 'x-till': 'x'.repeat(200) }])
      await send(operation, validRequest, headers);
    for (const request of fc.sample(document.invalidRequests(operation, known), {
      numRuns: INVALID_REQUESTS_PER_OPERATION,
      seed,
    }))
      await send(operation, request, authorised);
  }
  const statusCounts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`);
  // Prints a row of a Markdown table: service, number of operations, number of responses by status.
  process.stdout.write(`| transformer | ${document.operations.length} | ${statusCounts.join(', ')} |\n`);
  expect([...problems]).toEqual([]);
});

/** Values of valid requests, by field. The key `invoiceLine.siteId` applies only to the operation `invoiceLine`. */
const KNOWN_FIELDS = {
  ...LINE,
  'invoiceLine.siteId': SITE,
  siteId: SITE,
  amount: 8_950,
  reference: '18',
  'paymentsInvoicePayment.invoiceId': '17',
  MerchantOrderId: '17',
  'facadeBasket.body': { MerchantOrderId: '19', TotalToPay: PRODUCT.ActualUnitPrice, Products: [PRODUCT] },
  'facadeBasketClosed.body': { MerchantOrderId: '19', OrderStatus: 'Saved' },
  RefundAmount: 1,
};

async function createPaidBasket(): Promise<Record<string, unknown>> {
  const call = (url: string, body: object) => pos.call('POST', url, body, { 'x-api-key': KEY });
  await call('/Basket', { MerchantOrderId: '17', TotalToPay: PRODUCT.ActualUnitPrice, Products: [PRODUCT] });
  const SvcId = await pos.pay();
  const total = await call(`/v1/sites/${SITE}/invoice/total`, { amount: 100, reference: '16' });
  const { QrSvgUrl } = total.body as { QrSvgUrl: string };
  return { SvcId, file: QrSvgUrl.split('/').at(-1) };
}
