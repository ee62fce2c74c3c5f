import { createMerchant, type Merchant, type Retrieval, startRetrieval } from '../../test/retrieval.js';

let retrieval: Retrieval;
let merchant: Merchant;
beforeAll(async () => {
  retrieval = await startRetrieval({ SVC_RETRIEVAL_BURST: '3', SVC_RETRIEVAL_CALLS_PER_SECOND: '1' });
  merchant = await createMerchant(retrieval);
  // The limit uses performance.now(). In this test, performance.now() does not advance.
  const started = performance.now();
  jest.spyOn(performance, 'now').mockReturnValue(started);
});
afterAll(async () => {
  jest.restoreAllMocks();
  await retrieval.stop();
});

test('a key with too many calls gets a 429 with Retry-After and RateLimit headers, but other keys do not (M4)', async () => {
  const paths = ['payments/X', 'payments?externalReference=x', 'payment-search?orderId=x'].map(
    (path) => `/${merchant.merchantId}/${path}`,
  );
  const get = (nth: number, key: string) => retrieval.get(paths[nth % paths.length]!, { 'x-api-key': key });
  for (let call = 0; call < 3; call++) {
    const { status, headers } = await get(call, merchant.keys.merchant);
    expect([status, headers['ratelimit-policy']]).toEqual([200, '"key";q=3;w=3']);
    // r: number of remaining calls, t: seconds until the whole burst is possible again.
    expect(headers['ratelimit']).toBe(`"key";r=${2 - call};t=${call + 1}`);
  }
  const { status, headers, text } = await get(3, merchant.keys.merchant);
  expect([status, headers['retry-after'], headers['ratelimit']]).toEqual([429, '1', '"key";r=0;t=3']);
  expect(JSON.parse(text)).toMatchObject({ status: 429 });
  // The key may be in one of two headers. Calls with either header count for the same limit.
  const bearer = { authorization: `Bearer ${merchant.keys.merchant}` };
  expect((await retrieval.get(paths[0]!, bearer)).status).toBe(429);
  expect((await get(0, merchant.keys['site 1'])).status).toBe(200);
  // A call without a valid key gets a 401 and does not count for any key.
  for (let call = 0; call < 5; call++) expect((await get(call, merchant.keys.revoked)).status).toBe(401);
});
