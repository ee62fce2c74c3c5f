import { httpClient } from '@svc/testing';
import { createOpenAttempt } from '../../test/attempts/open-attempt.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { PaymentProcessorConfig } from '../config.js';
import { SettleAttempt } from '../payments/settle-attempt.js';
import { OPEN_CASE_KINDS, type OpenCase } from './open-cases.query.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const get = (path: string) =>
  httpClient(processor.service, { 'x-admin-key': processor.service.app.get(PaymentProcessorConfig).SVC_ADMIN_KEY })(
    'GET',
    `/admin/v1/open-cases${path}`,
  );
const list = async (kind: string): Promise<OpenCase[]> =>
  ((await get(`?kind=${kind}`)).body as { cases: OpenCase[] }).cases;

test('a charge without an outcome is a case after a minute, until it has one', async () => {
  const attempt = await createOpenAttempt(processor);
  const sinceUTCDate = processor.clock.nowISO();
  const settle = processor.service.app.get(SettleAttempt);
  await settle.execute(attempt, { kind: 'unknown' });
  processor.clock.advance(60_000);
  expect(await list('unknownOutcome')).toEqual([]);
  processor.clock.advance(1);
  const { acquirer, account, payment } = attempt;
  expect(await list('unknownOutcome')).toEqual([
    {
      kind: 'unknownOutcome',
      sinceUTCDate,
      svcId: payment.paymentReference,
      merchantId: expect.any(Number),
      mode: account.mode,
      acquirer,
      acquirerReference: null,
      state: 'unknown',
      detail: '0 queries',
    },
  ]);
  await settle.execute(attempt, { kind: 'approved', acquirerReference: 'a-1' });
  expect(await list('unknownOutcome')).toEqual([]);
});

test('an answer of the acquirer that contradicts the charge is a case', async () => {
  const attempt = await createOpenAttempt(processor);
  const settle = processor.service.app.get(SettleAttempt);
  await settle.execute(attempt, { kind: 'approved', acquirerReference: 'a-1' });
  await settle.execute(attempt, { kind: 'reversed' });
  expect((await list('incident'))[0]).toMatchObject({
    svcId: attempt.payment.paymentReference,
    state: 'approved',
    detail: 'reversed',
  });
});

test('without a kind all kinds are listed; an unknown kind, and a caller without a key, are refused', async () => {
  const { status, body } = await get('');
  expect([status, (body as { cases: OpenCase[] }).cases.map(({ kind }) => kind)]).toEqual([200, ['incident']]);
  for (const kind of OPEN_CASE_KINDS) expect((await get(`?kind=${kind}`)).status).toBe(200);
  expect((await get('?kind=other')).status).toBe(400);
  expect((await get('?kind=toString')).status).toBe(400);
  expect((await httpClient(processor.service)('GET', '/admin/v1/open-cases')).status).toBe(401);
});
