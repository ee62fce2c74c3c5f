import { MerchantClient } from '../index.js';

const refundResponse = {
  refundReference: 'r-1',
  svcId: '1VQ5K3P0ABCDEFGHJK',
  amount: 250,
  status: 'succeeded',
  createdUTCDate: '2026-11-20T18:03:36.123Z',
};
const { svcId: paymentReference, ...refundFields } = refundResponse;
const REFUNDS_URL = `https://api.example/edge/business/api/v1/merchants/1001/refunds?svcId=${paymentReference}`;

interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

/** Creates a client that receives the given responses in turn. `sent` contains the requests that it has sent. */
function createClient(
  ...responses: readonly (readonly [status: number, body: unknown, headers?: Record<string, string>])[]
) {
  const sent: SentRequest[] = [];
  const remainingResponses = [...responses];
  const client = new MerchantClient({
    apiUrl: 'https://api.example/edge/',
    merchantId: 1001,
    apiKey: 'svc_test_x',
    wait: () => Promise.resolve(),
    fetch: (url, { method = '', headers, body } = {}) => {
      const text = typeof body === 'string' ? (JSON.parse(body) as unknown) : undefined;
      sent.push({ method, url: new Request(url).url, headers: headers as Record<string, string>, body: text });
      const [status, responseBody, responseHeaders] = remainingResponses.shift()!;
      return Promise.resolve(
        Response.json(responseBody, { status, ...(responseHeaders ? { headers: responseHeaders } : {}) }),
      );
    },
  });
  const refund = () => client.refund(paymentReference, { idempotencyKey: 'k-1', amount: 250, reason: 'broken' });
  return { client, refund, sent };
}

test('a refund is sent with an idempotency key, which is the same in every attempt', async () => {
  const { refund, sent } = createClient([503, {}], [409, {}, { 'retry-after': '2' }], [201, refundResponse]);
  expect(await refund()).toEqual({ paymentReference, ...refundFields });
  const headers = expect.objectContaining({
    'content-type': 'application/json',
    'idempotency-key': 'k-1',
    'x-api-key': 'svc_test_x',
  }) as object;
  const expectedRequest = { method: 'POST', url: REFUNDS_URL, headers, body: { amount: 250, reason: 'broken' } };
  expect(sent).toEqual([expectedRequest, expectedRequest, expectedRequest]);
});

test.each([
  [202, 'pending'],
  [201, 'failed'],
])('the status %i with a refund in the state %s is not an error', async (httpStatus, status) => {
  expect(await createClient([httpStatus, { ...refundResponse, status }]).refund()).toMatchObject({ status });
});

test('a refused refund is an error, and is not sent again', async () => {
  const errors = [{ errorReference: '40', message: 'More than the remaining amount' }];
  const { refund, sent } = createClient([422, { errors }]);
  await expect(refund()).rejects.toMatchObject({ httpStatus: 422, retryable: false, errors });
  expect(sent).toHaveLength(1);
});

test('the refunds of a payment are listed', async () => {
  const { client, sent } = createClient(
    [200, [refundResponse, { ...refundResponse, refundReference: 'r-0', status: 'failed' }]],
    [200, []],
  );
  expect(await client.refunds('a/b')).toEqual([
    { paymentReference, ...refundFields },
    { paymentReference, ...refundFields, refundReference: 'r-0', status: 'failed' },
  ]);
  expect(await client.refunds(paymentReference)).toEqual([]);
  expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET https://api.example/edge/business/api/v1/merchants/1001/refunds?svcId=a%2Fb',
    `GET ${REFUNDS_URL}`,
  ]);
});

test.each([
  ['refunds', {}],
  ['refund', [7]],
  ['svcId', [{ ...refundResponse, svcId: undefined }]],
  ['status', [{ ...refundResponse, status: 'lost' }]],
  ['amount', [{ ...refundResponse, amount: '250' }]],
])('refunds() refuses a response in which the field %s is malformed: %j', async (field, body) => {
  const result = createClient([200, body]).client.refunds(paymentReference);
  const errors = [{ message: `The response cannot be read: ${field} is missing or malformed` }];
  await expect(result).rejects.toMatchObject({ status: 'InternalServer', errors, retryable: false });
});

test("listing the refunds of another merchant's payment is an error", async () => {
  await expect(createClient([404, { errors: [] }]).client.refunds('x')).rejects.toMatchObject({ httpStatus: 404 });
});

describe('disputes()', () => {
  const dispute = {
    ...{ disputeReference: 'd-1', svcId: paymentReference, stage: 'opened', amount: 250, reason: '10.4 Fraud' },
    ...{ respondByUTCDate: '2026-11-27T18:03:36.123Z', createdUTCDate: '2026-11-20T18:03:36.123Z' },
  };
  const { svcId: _, respondByUTCDate: __, ...withoutDeadline } = dispute;

  test('lists the disputes of a payment', async () => {
    const { client, sent } = createClient([503, {}], [200, [dispute, { ...dispute, respondByUTCDate: undefined }]]);
    expect(await client.disputes('a/b')).toStrictEqual([
      { paymentReference, ...withoutDeadline, respondByUTCDate: dispute.respondByUTCDate },
      { paymentReference, ...withoutDeadline },
    ]);
    const request = 'GET https://api.example/edge/business/api/v1/merchants/1001/disputes?svcId=a%2Fb';
    expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([request, request]);
  });

  test.each([
    ['disputes', {}],
    ['dispute', [7]],
    ['svcId', [{ ...dispute, svcId: undefined }]],
    ['stage', [{ ...dispute, stage: 'failed' }]],
    ['amount', [{ ...dispute, amount: '250' }]],
    ['reason', [{ ...dispute, reason: undefined }]],
    ['respondByUTCDate', [{ ...dispute, respondByUTCDate: 5 }]],
  ])('refuses a response in which the field %s is malformed: %j', async (field, body) => {
    const errors = [{ message: `The response cannot be read: ${field} is missing or malformed` }];
    await expect(createClient([200, body]).client.disputes('x')).rejects.toMatchObject({ errors });
  });

  test('accepts each stage', async () => {
    for (const stage of ['inquiry', 'opened', 'debited', 'reversed', 'won', 'lost'])
      expect(await createClient([200, [{ ...dispute, stage }]]).client.disputes('x')).toMatchObject([{ stage }]);
  });
});
