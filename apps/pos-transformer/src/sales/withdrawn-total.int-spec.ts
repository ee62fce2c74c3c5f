/** T3: a line after a total withdraws the code, so that no customer pays less than the till shows. */
import { waitUntil } from '@svc/testing';
import type { FakeInvoice } from '../../test/fake-platform.js';
import { type Reply, SITE, TestTransformer } from '../../test/test-transformer.js';
import { AlertRepository } from '../platform/alert.repository.js';
import { Store } from '../store/store.js';

let pos: TestTransformer;
beforeEach(async () => (pos = await TestTransformer.start()));
afterEach(() => pos.stop());

const SEND_TOTAL_AGAIN = { Result: 'WARN', Message: expect.stringMatching(/Send total again\.$/) };
const OFFLINE = { Result: 'WARN', Message: expect.stringMatching(/can be reached\. Send total again\.$/) };
const PAYING = { Result: 'STOP', Message: expect.stringContaining('A customer is paying') };

/** The basket that the customer display and the till page show. */
const screen = async (): Promise<Record<string, unknown>> =>
  (await pos.call('GET', `/till/${SITE}/state`)).body.basket as Record<string, unknown>;
const quantities = async (): Promise<number[]> =>
  ((await screen())['lines'] as { quantity: number }[]).map(({ quantity }) => quantity);
const sendSecondLine = (): Promise<Reply> => pos.sendLine({ id: 2, itemQuantity: 1, totalPrice: 4_475 });
/** Sends a line of R 89.50 and its total. Returns the path of the code's image. */
async function sendFirstTotal(): Promise<string> {
  await pos.sendLine();
  const { body } = await pos.sendTotal(8_950, '17');
  return body.QrSvgUrl === undefined ? '' : new URL(body.QrSvgUrl as string).pathname;
}
/** Waits until the transformer has stored this number of calls to the platform. */
const waitForCalls = (count: number): Promise<boolean> =>
  waitUntil(`${count} calls`, 5_000, async () => {
    const found = pos.transformer.app
      .get(Store)
      .find<{ calls: number }>('SELECT count(*) AS calls FROM outgoing_calls');
    return found?.calls === count;
  });
const waitForRequest = (method: string): Promise<boolean> =>
  waitUntil(`a ${method}`, 5_000, async () => pos.platform.requests.some((request) => request.method === method));

it.each<[string, Record<string, unknown>, number[]]>([
  ['a new line', { id: 2 }, [2, 2]],
  ['a replaced line', { itemQuantity: 3, totalPrice: 13_425 }, [3]],
  ['an equal line', {}, [2]],
  ['a returned line', { id: 2, itemQuantity: -1, totalPrice: -4_475 }, [2, -1]],
  ['a removed line', { itemQuantity: 0, totalPrice: 0 }, []],
  ['a line with a wrong total', { id: 2, totalPrice: 1 }, [2, 2]],
])('%s after a total closes the invoice, and no screen shows the code or the old total', async (_, line, expected) => {
  const image = await sendFirstTotal();
  expect(await screen()).toMatchObject({ state: 'payable', amountCents: 8_950 });
  expect((await pos.sendLine(line)).body).toEqual(SEND_TOTAL_AGAIN);
  expect(pos.platform.invoices.map(({ state }) => state)).toEqual(['closed']);
  expect(await screen()).toMatchObject({ state: 'filling', amountCents: null, codePath: null });
  expect(await quantities()).toEqual(expected);
  expect((await pos.call('GET', image)).status).toBe(404);
});

it('the next total creates a new invoice for the new lines', async () => {
  await sendFirstTotal();
  await sendSecondLine();
  const next = await pos.sendTotal(13_425, '17');
  expect(next.body).toMatchObject({ Result: 'OK', InvoiceReference: pos.openInvoice().reference });
  expect(pos.openInvoice().body).toMatchObject({ amount: 13_425, externalReference: '17' });
  expect(await screen()).toMatchObject({ state: 'payable', amountCents: 13_425 });
  await pos.pay();
  expect(await screen()).toMatchObject({ state: 'paid', amountCents: 13_425 });
});

it('each line until the next total gets the warning, also the repeat of a removal', async () => {
  await sendFirstTotal();
  for (const id of [2, 3]) expect((await pos.sendLine({ id })).body).toEqual(SEND_TOTAL_AGAIN);
  for (let times = 0; times < 2; times++)
    expect((await pos.sendLine({ id: 3, itemQuantity: 0, totalPrice: 0 })).body).toEqual(SEND_TOTAL_AGAIN);
  expect(pos.platform.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
});

it('a line that changes nothing does not withdraw the code', async () => {
  await sendFirstTotal();
  expect((await pos.sendLine({ id: 9, itemQuantity: 0, totalPrice: 0 })).body.Result).toBe('OK');
  expect(pos.openInvoice().body['amount']).toBe(8_950);
});

it('a line that is removed again leaves the code withdrawn: the same total creates a new invoice', async () => {
  await sendFirstTotal();
  await sendSecondLine();
  await pos.sendLine({ id: 2, itemQuantity: 0, totalPrice: 0 });
  expect((await pos.sendTotal(8_950, '17')).body).toMatchObject({
    Result: 'OK',
    InvoiceReference: pos.openInvoice().reference,
  });
  expect(pos.platform.invoices).toHaveLength(2);
});

it('a line gets a STOP while a customer is paying, and changes nothing', async () => {
  await sendFirstTotal();
  const invoice = pos.openInvoice();
  const before = await screen();
  invoice.state = 'reserved';
  expect((await sendSecondLine()).body).toEqual(PAYING);
  expect((await pos.sendLine({ itemQuantity: 0, totalPrice: 0 })).body).toEqual(PAYING);
  expect(await screen()).toEqual(before);
  invoice.state = 'open';
  await pos.sendPostponedCalls();
  // The refused lines do not close the invoice later.
  expect(pos.openInvoice()).toBe(invoice);
  await pos.pay(invoice);
  expect((await pos.getPayment('17')).body).toMatchObject({ StatusId: '2', PaidAmount: 8_950 });
});

it('a line of a paid basket gets a warning, and the screens show the lines that were paid', async () => {
  await sendFirstTotal();
  await pos.pay();
  expect((await sendSecondLine()).body).toEqual({ Result: 'WARN', Message: expect.stringContaining('has been paid') });
  expect(await screen()).toMatchObject({ state: 'paid', amountCents: 8_950 });
  expect(await quantities()).toEqual([2]);
});

it('a line gets a warning if the platform has a payment that is not reported yet', async () => {
  await sendFirstTotal();
  pos.platform.nextErrors.push({ method: 'DELETE', status: 409, body: { code: 'payable.paid' } });
  expect((await sendSecondLine()).body).toEqual({ Result: 'WARN', Message: expect.stringContaining('has been paid') });
  expect(await screen()).toMatchObject({ codePath: null, amountCents: null });
  await pos.pay();
  expect((await pos.sendTotal(13_425, '17')).body.Message).toContain('R 89.50 was paid for an earlier version');
});

it('a line gets a STOP if the platform refuses to close the code', async () => {
  await sendFirstTotal();
  const before = await screen();
  pos.platform.nextErrors.push({ method: 'DELETE', status: 400, body: { errors: [{ message: 'odd' }] } });
  expect((await sendSecondLine()).body).toEqual({ Result: 'STOP', Message: expect.stringContaining('odd') });
  expect(await screen()).toEqual(before);
});

it('a line after a total of 0 removes this total from the screens', async () => {
  await pos.sendLine();
  await pos.sendTotal(0, '17');
  expect(await screen()).toMatchObject({ state: 'closed', amountCents: 0 });
  expect((await sendSecondLine()).body).toEqual(SEND_TOTAL_AGAIN);
  expect(await screen()).toMatchObject({ state: 'filling', amountCents: null });
  expect(pos.platform.requests).toEqual([]);
});

it('an invoice whose total was withdrawn is not renewed when it expires', async () => {
  await sendFirstTotal();
  pos.platform.outage = 'unreachable';
  await sendSecondLine();
  pos.clock.advance(3_600_000);
  await pos.renewInvoices();
  pos.platform.outage = undefined;
  await pos.sendPostponedCalls();
  expect(pos.platform.invoices).toHaveLength(1);
});

it('a total that the platform refuses leaves the earlier total withdrawn', async () => {
  await sendFirstTotal();
  await sendSecondLine();
  pos.platform.nextErrors.push({ method: 'POST', status: 400, body: { code: 'request.invalid' } });
  expect((await pos.sendTotal(13_425, '17')).body.Result).toBe('STOP');
  expect(await screen()).toMatchObject({ state: 'filling', amountCents: null, codePath: null });
});

it('a total that the platform refuses after it was withdrawn does not show the total before it', async () => {
  await sendFirstTotal();
  await sendSecondLine();
  await pos.sendTotal(13_425, '17');
  await pos.sendLine({ id: 3 });
  pos.platform.nextErrors.push({ method: 'POST', status: 500 });
  await pos.sendTotal(22_375, '17');
  await pos.sendLine({ id: 4 });
  pos.platform.nextErrors.push({ method: 'POST', status: 400, body: { code: 'request.invalid' } });
  await pos.sendPostponedCalls();
  expect(await screen()).toMatchObject({ state: 'filling', amountCents: null, codePath: null });
  expect(await quantities()).toEqual([2, 1, 2, 2]);
});

describe('while the platform cannot be reached', () => {
  it('the invoice is closed when the platform can be reached again, also after a restart', async () => {
    const image = await sendFirstTotal();
    pos.platform.outage = 'unreachable';
    for (const id of [2, 3]) expect((await pos.sendLine({ id })).body).toEqual(OFFLINE);
    expect(await screen()).toMatchObject({ state: 'filling', amountCents: null, codePath: null });
    expect((await pos.call('GET', image)).status).toBe(404);
    await pos.restart();
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls();
    expect(pos.platform.openInvoices()).toEqual([]);
    expect(pos.platform.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  });

  it('an invoice that has not been sent is not created', async () => {
    pos.platform.outage = 'unreachable';
    // This call is attempted. The next call waits during the backoff.
    await pos.sendBasket('18', 100);
    await sendFirstTotal();
    expect((await sendSecondLine()).body).toEqual(SEND_TOTAL_AGAIN);
    expect(await screen()).toMatchObject({ state: 'filling', amountCents: null });
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls();
    expect(pos.platform.invoices.map(({ body }) => body['externalReference'])).toEqual(['18']);
  });

  it('an invoice whose response was lost is closed', async () => {
    pos.platform.outage = 'lost-responses';
    await sendFirstTotal();
    pos.platform.outage = 'unreachable';
    await sendSecondLine();
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls();
    expect(pos.platform.invoices.map(({ state }) => state)).toEqual(['closed']);
  });

  it('the next total replaces the invoice, and only the new lines can be paid', async () => {
    await sendFirstTotal();
    pos.platform.outage = 'unreachable';
    await sendSecondLine();
    await pos.sendTotal(13_425, '17');
    expect(await screen()).toMatchObject({ state: 'waiting', amountCents: 13_425, codePath: null });
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls();
    expect(pos.openInvoice().body['amount']).toBe(13_425);
    expect(await screen()).toMatchObject({ state: 'payable', amountCents: 13_425 });
  });

  it('a payment of the old code causes an alert, and no further code is made', async () => {
    await sendFirstTotal();
    const invoice = pos.openInvoice();
    pos.platform.outage = 'unreachable';
    await sendSecondLine();
    pos.platform.pay(invoice);
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls();
    await pos.pollPayments();
    const alerts = pos.transformer.app.get(AlertRepository).list(SITE, '');
    expect(alerts.map(({ message }) => message)).toEqual([
      'Order 17: R 89.50 was paid before its lines were changed. Send total again, and settle the difference.',
    ]);
    expect((await pos.sendTotal(13_425, '17')).body.Result).toBe('WARN');
    expect(pos.platform.openInvoices()).toEqual([]);
  });

  it('a basket that is reset closes the withdrawn invoice', async () => {
    const image = await sendFirstTotal();
    pos.platform.outage = 'unreachable';
    await sendSecondLine();
    await pos.resetBasket();
    expect((await pos.call('GET', image)).status).toBe(404);
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls();
    expect(pos.platform.openInvoices()).toEqual([]);
  });
});

describe('two requests at the same time', () => {
  it('a line whose total changes while its invoice is closed withdraws the new total too', async () => {
    await sendFirstTotal();
    const release = pos.platform.holdResponse();
    const line = sendSecondLine();
    await waitForRequest('DELETE');
    const total = pos.sendTotal(100, '17');
    await waitForCalls(3);
    release();
    expect((await line).body).toEqual(SEND_TOTAL_AGAIN);
    await total;
    expect(pos.platform.openInvoices()).toEqual([]);
    expect(await screen()).toMatchObject({ state: 'filling', amountCents: null });
    expect(await quantities()).toEqual([2, 1]);
  });

  it('a line during a total withdraws it', async () => {
    await pos.sendLine();
    const release = pos.platform.holdResponse();
    const total = pos.sendTotal(8_950, '17');
    await waitForRequest('POST');
    const line = sendSecondLine();
    await waitForCalls(2);
    release();
    expect((await line).body).toEqual(SEND_TOTAL_AGAIN);
    await total;
    expect(pos.platform.openInvoices()).toEqual([]);
    expect(await screen()).toMatchObject({ state: 'filling', codePath: null });
  });

  it('a line whose basket is reset meanwhile belongs to the next basket', async () => {
    await sendFirstTotal();
    const release = pos.platform.holdResponse();
    const line = sendSecondLine();
    await waitForRequest('DELETE');
    const reset = pos.resetBasket();
    await waitForCalls(3);
    release();
    expect([(await line).body.Result, (await reset).body.Result]).toEqual(['OK', 'OK']);
    expect(await quantities()).toEqual([1]);
  });
});

describe('a changed basket of the facade', () => {
  it('replaces the invoice, and no screen shows its lines over another total', async () => {
    await pos.sendBasket('17', 100);
    const first: FakeInvoice = pos.openInvoice();
    pos.platform.outage = 'unreachable';
    await pos.sendBasket('17', 150);
    expect(await screen()).toMatchObject({ state: 'waiting', amountCents: 150, codePath: null });
    expect(((await screen())['lines'] as object[])[0]).toMatchObject({ totalCents: 150 });
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls();
    expect([first.state, pos.openInvoice().body['amount']]).toEqual(['closed', 150]);
  });

  it('gets a STOP while a customer is paying, and the screens show the old basket with its total', async () => {
    await pos.sendBasket('17', 100);
    const before = await screen();
    pos.openInvoice().state = 'reserved';
    expect((await pos.sendBasket('17', 150)).body).toEqual(PAYING);
    expect(await screen()).toEqual(before);
  });
});
