import { runInNewContext } from 'node:vm';
import { pickSecurityHeaders, SERVICE_SECURITY_HEADERS, waitUntil } from '@svc/testing';
import { SITE, TestTransformer } from '../../test/test-transformer.js';

const KEY = 'a-key-of-the-store';
let pos: TestTransformer;
let url: string;
beforeEach(async () => {
  pos = await TestTransformer.start({ apiKey: KEY });
  await pos.transformer.app.listen(0, '127.0.0.1');
  url = await pos.transformer.app.getUrl();
});
afterEach(() => pos.stop());

const apiKeyHeader = { 'x-api-key': KEY };
const post = (path: string, body: object): Promise<Response> =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...apiKeyHeader, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Opens the event stream of a customer display. `views` collects the baskets that it receives, in order. */
async function openDisplay(
  query = '',
): Promise<{ views: { state: string; amountCents: number }[]; close: () => void }> {
  const ended = new AbortController();
  const answer = await fetch(`${url}/display/${SITE}/events${query}`, { headers: apiKeyHeader, signal: ended.signal });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  const views: { state: string; amountCents: number }[] = [];
  const read = async (): Promise<void> => {
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream()))
      for (const message of chunk.split('\n\n'))
        if (message.startsWith('data: ')) views.push(JSON.parse(message.slice(6)) as (typeof views)[number]);
  };
  read().catch(() => undefined);
  return { views, close: () => ended.abort() };
}

test('the customer display shows each change of its basket, and its payment', async () => {
  const { views, close } = await openDisplay();
  const line = {
    id: 1,
    itemName: '<b>Rooibos</b>',
    itemProductCode: 'RB',
    itemPrice: 100,
    itemQuantity: 2,
    totalPrice: 200,
  };
  await post(`/v1/sites/${SITE}/invoice/line`, line);
  await post(`/v1/sites/${SITE}/invoice/total`, { amount: 200, reference: '17' });
  await pos.pay();
  await post(`/v1/sites/${SITE}/invoice/reset`, {});
  await waitUntil('the empty display', 5_000, async () => views.at(-1)?.state === 'empty' && views.length > 2);
  expect(views.map(({ state }) => state)).toEqual(['empty', 'filling', 'waiting', 'payable', 'paid', 'empty']);
  expect(views[3]).toMatchObject({
    reference: '17',
    amountCents: 200,
    lines: [{ name: '<b>Rooibos</b>', quantity: 2, totalCents: 200 }],
    codePath: expect.stringMatching(/^\/codes\/[\w-]{22}\.svg\?total=1$/),
  });
  close();
});

test('a display shows only baskets of its own till, including baskets that are sent as a whole', async () => {
  const [own, other] = [await openDisplay(), await openDisplay('?till=TILL-2')];
  await post('/Basket', { MerchantOrderId: '17', TotalToPay: 100, Products: [{ ActualUnitPrice: 50, Quantity: 2 }] });
  await waitUntil('the display', 5_000, async () => own.views.at(-1)?.state === 'payable');
  expect(own.views.at(-1)).toMatchObject({ amountCents: 100, lines: [{ quantity: 2, totalCents: 100 }] });
  expect(other.views.map(({ state }) => state)).toEqual(['empty']);
  own.close();
  other.close();
});

test.each([
  '/display/5001',
  '/till/5001',
  '/assets/display.js',
  '/assets/till.js',
  '/assets/pos.css',
  '/assets/connection.js',
])(
  '%s is served without a key, contains no inline script, and has a policy that forbids foreign scripts',
  async (path) => {
    const answer = await fetch(`${url}${path}`);
    expect(answer.status).toBe(200);
    expect(pickSecurityHeaders(answer.headers)).toEqual({
      ...SERVICE_SECURITY_HEADERS,
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'cache-control': 'no-cache',
    });
    const text = await answer.text();
    expect(text).not.toMatch(/<script(?![^>]* src=)|\son\w+=|style=/i);
  },
);

test.each(['/assets/../package.json', '/assets/..%2fpackage.json', '/assets/none.js', '/assets/__proto__'])(
  '%s is not found',
  async (path) => {
    expect((await fetch(`${url}${path}`)).status).toBe(404);
  },
);

describe('A9: a request without the correct key', () => {
  it.each([
    ['GET', '/display/5001/events'],
    ['GET', '/till/5001/state'],
    ['GET', '/GetPayment?MerchantOrderId=x'],
    ['GET', '/v1/invoice/x/payment'],
    ['POST', '/Basket'],
    ['POST', '/BasketClosed'],
    ['POST', '/SvcRefund'],
    ['POST', '/v1/sites/5001/invoice/line'],
    ['POST', '/v1/sites/5001/invoice/total'],
    ['POST', '/v1/sites/5001/invoice/reset'],
  ])('gets a 401 at %s %s, even if it is invalid', async (method, path) => {
    expect((await fetch(`${url}${path}`, { method })).status).toBe(401);
    expect((await fetch(`${url}${path}`, { method, headers: { 'x-api-key': `${KEY}x` } })).status).toBe(401);
  });
});

test.each(['/display/9/events', '/till/9/state', '/till/x/state', '/till/5001/state?till=%00'])(
  '%s is refused, because the site is not configured or the till is invalid',
  async (path) => {
    const { status } = await fetch(`${url}${path}`, { headers: apiKeyHeader });
    expect(status).toBe(path.includes('5001') ? 400 : 404);
  },
);

test('the till page shows waiting calls and alerts', async () => {
  pos.platform.outage = 'unreachable';
  await post('/Basket', { MerchantOrderId: '17', TotalToPay: 100, Products: [] });
  const state = async (): Promise<unknown> =>
    (await fetch(`${url}/till/${SITE}/state`, { headers: apiKeyHeader })).json();
  expect(await state()).toMatchObject({ isAway: true, waitingCalls: 1, alerts: [], basket: { state: 'waiting' } });
  pos.platform.outage = undefined;
  pos.platform.nextErrors.push({ method: 'POST', status: 400, body: { errors: [{ message: 'odd' }] } });
  await pos.sendPostponedCalls();
  expect(await state()).toMatchObject({
    isAway: false,
    waitingCalls: 0,
    alerts: [{ message: expect.stringContaining('odd') }],
  });
});

test('the customer display gets the name of the store, if the configuration has one', async () => {
  const { views, close } = await openDisplay();
  await waitUntil('the first view', 5_000, async () => views.length > 0);
  expect(views[0]).toMatchObject({ storeName: 'Market stall' });
  close();
});

test('the customer display shows no technical problem, and the till page shows no empty panel and one item', async () => {
  const [display, till, script] = await Promise.all(
    ['assets/display.js', 'till/5001', 'assets/till.js'].map(async (path) => (await fetch(`${url}/${path}`)).text()),
  );
  expect(display).toContain("hint.textContent = 'Please pay at the till.';");
  expect(display).not.toMatch(/hint\.textContent = .*error/);
  expect(till).toContain('<section id="status" aria-label="Alerts" hidden>');
  expect(script).toContain("element('status').hidden = element('status').textContent.trim() === '';");
  expect(till).toContain('name="quantity" value="1"');
});

test('T14: the till page shows by how much the clock of the computer is wrong', async () => {
  const clockProblem = async (): Promise<unknown> =>
    ((await (await fetch(`${url}/till/${SITE}/state`, { headers: apiKeyHeader })).json()) as Record<string, unknown>)[
      'clockProblem'
    ];
  expect(await clockProblem()).toBeNull();
  pos.clock.jump(7_500_000);
  expect(await clockProblem()).toBe(
    'The clock of the store’s computer is 2 hours 5 minutes ahead. Set it to the right time.',
  );
  const [page, script] = await Promise.all(
    ['till/5001', 'assets/till.js'].map(async (path) => (await fetch(`${url}/${path}`)).text()),
  );
  expect(page).toContain('<p id="clock"></p>');
  expect(script).toContain("clock: clockProblem ?? ''");
});

test('a page removes its key from the address bar, and stores it for a reload', async () => {
  const script = await (await fetch(`${url}/assets/connection.js`)).text();
  const storage = new Map<string, string>();
  const addresses: string[] = [];
  const loadScript = (hash: string): unknown =>
    runInNewContext(`${script.replaceAll('export ', '')}; headers`, {
      URLSearchParams,
      location: { pathname: '/display/5001', search: '?till=T', hash },
      history: { replaceState: (_state: null, _title: string, address: string) => addresses.push(address) },
      sessionStorage: { getItem: (name: string) => storage.get(name) ?? null, setItem: storage.set.bind(storage) },
    });
  expect({ ...(loadScript('') as object) }).toEqual({ 'x-till': 'T' });
  for (const hash of [`#key=${KEY}`, ''])
    expect({ ...(loadScript(hash) as object) }).toEqual({ 'x-api-key': KEY, 'x-till': 'T' });
  expect(addresses).toEqual(['/display/5001?till=T']);
});

test('a closed display no longer counts towards the limit', async () => {
  const maxDisplays = 100;
  for (let opened = 0; opened < maxDisplays + 5; opened++) (await openDisplay()).close();
  await waitUntil('a display that is accepted again', 5_000, async () => {
    const answer = await fetch(`${url}/display/${SITE}/events`, { headers: apiKeyHeader });
    await answer.body?.cancel();
    return answer.status === 200;
  });
  const openDisplays = await Promise.all(Array.from({ length: maxDisplays }, () => openDisplay()));
  expect((await fetch(`${url}/display/${SITE}/events`, { headers: apiKeyHeader })).status).toBe(503);
  for (const display of openDisplays) display.close();
});
