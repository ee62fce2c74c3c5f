import { MerchantClient } from '../index.js';

const made = {
  refundReference: 'r-1',
  svcId: '1VQ5K3P0ABCDEFGHJK',
  amount: 250,
  status: 'succeeded',
  createdUTCDate: '2026-11-20T18:03:36.123Z',
};
const { svcId: paymentReference, ...members } = made;
const URL_OF_REFUNDS = `https://api.example/edge/business/api/v1/merchants/1001/refunds?svcId=${paymentReference}`;

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

/** A client that receives these responses in turn, and the requests that it sends. */
function clientOf(...answers: readonly (readonly [status: number, body: unknown, headers?: Record<string, string>])[]) {
  const sent: Sent[] = [];
  const left = [...answers];
  const client = new MerchantClient({
    apiUrl: 'https://api.example/edge/',
    merchantId: 1001,
    apiKey: 'svc_test_x',
    wait: () => Promise.resolve(),
    fetch: (url, { method = '', headers, body } = {}) => {
      const text = typeof body === 'string' ? (JSON.parse(body) as unknown) : undefined;
      sent.push({ method, url: new Request(url).url, headers: headers as Record<string, string>, body: text });
      const [status, answer, more] = left.shift()!;
      return Promise.resolve(Response.json(answer, { status, ...(more ? { headers: more } : {}) }));
    },
  });
  const refund = () => client.refund(paymentReference, { idempotencyKey: 'k-1', amount: 250, reason: 'broken' });
  return { client, refund, sent };
}

test('a refund is sent with an idempotency key, which is the same in every attempt', async () => {
  const { refund, sent } = clientOf([503, {}], [409, {}, { 'retry-after': '2' }], [201, made]);
  expect(await refund()).toEqual({ paymentReference, ...members });
  const headers = expect.objectContaining({ 'idempotency-key': 'k-1', 'x-api-key': 'svc_test_x' }) as object;
  const one = { method: 'POST', url: URL_OF_REFUNDS, headers, body: { amount: 250, reason: 'broken' } };
  expect(sent).toEqual([one, one, one]);
});

test.each([
  [202, 'pending'],
  [201, 'failed'],
])('the status %i with a refund in the state %s is not an error', async (httpStatus, status) => {
  expect(await clientOf([httpStatus, { ...made, status }]).refund()).toMatchObject({ status });
});

test('a refused refund is an error, and is not sent again', async () => {
  const errors = [{ errorReference: '40', message: 'More than what is left' }];
  const { refund, sent } = clientOf([422, { errors }]);
  await expect(refund()).rejects.toMatchObject({ httpStatus: 422, retryable: false, errors });
  expect(sent).toHaveLength(1);
});

test('the refunds of a payment are listed', async () => {
  const { client, sent } = clientOf([200, [made, { ...made, refundReference: 'r-0', status: 'failed' }]], [200, []]);
  expect(await client.refunds('a/b')).toEqual([
    { paymentReference, ...members },
    { paymentReference, ...members, refundReference: 'r-0', status: 'failed' },
  ]);
  expect(await client.refunds(paymentReference)).toEqual([]);
  expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET https://api.example/edge/business/api/v1/merchants/1001/refunds?svcId=a%2Fb',
    `GET ${URL_OF_REFUNDS}`,
  ]);
});

test.each([
  ['no list', {}],
  ['a refund without its payment', [{ ...made, svcId: undefined }]],
  ['a refund of an unknown state', [{ ...made, status: 'lost' }]],
  ['a refund of no amount', [{ ...made, amount: '250' }]],
])('a response with %s is an error', async (_, body) => {
  const listed = clientOf([200, body]).client.refunds(paymentReference);
  await expect(listed).rejects.toMatchObject({ status: 'InternalServer', retryable: false });
});

test("listing the refunds of another merchant's payment is an error", async () => {
  await expect(clientOf([404, { errors: [] }]).client.refunds('x')).rejects.toMatchObject({ httpStatus: 404 });
});
