/** T8: a basket that is closed before its invoice was sent makes none, also if the transformer tried to connect. */
import { waitUntil } from '@svc/testing';
import { SITE, TestTransformer } from '../../test/test-transformer.js';
import { OutgoingCallRepository } from './outgoing-call.repository.js';

let pos: TestTransformer;
beforeEach(async () => (pos = await TestTransformer.start()));
afterEach(() => pos.stop());

const QUEUED_ANSWER = { Result: 'WARN', Message: expect.stringContaining('cannot be reached') };
const countWaitingCalls = (): number => pos.transformer.app.get(OutgoingCallRepository).countWaiting(SITE);

describe('T8: while the platform refuses connections, a request is certainly not sent', () => {
  beforeEach(() => pos.platform.disconnect());

  const reconnect = async (): Promise<void> => {
    await pos.platform.reconnect();
    await pos.sendPostponedCalls();
  };

  it('a basket that is closed meanwhile makes no invoice, although its call was attempted', async () => {
    expect((await pos.sendBasket('17', 100)).body).toStrictEqual(QUEUED_ANSWER);
    expect((await pos.closeBasket('17', 'Complete')).body).toEqual({ Result: 'OK', Message: '' });
    await pos.sendBasket('18', 200);
    await reconnect();
    expect(pos.platform.invoices.map(({ body }) => body['amount'])).toEqual([200]);
  });

  it('only the last version of a basket makes an invoice', async () => {
    for (const amount of [100, 200]) await pos.sendBasket('17', amount);
    await reconnect();
    expect(pos.platform.invoices.map(({ body }) => body['amount'])).toEqual([200]);
  });

  it('a call that may have been sent before is repeated', async () => {
    await pos.platform.reconnect();
    pos.platform.outage = 'lost-responses';
    await pos.sendBasket('17', 100);
    pos.platform.outage = undefined;
    await pos.platform.disconnect();
    await pos.sendPostponedCalls();
    await pos.closeBasket('17', 'Complete');
    await reconnect();
    expect(pos.platform.invoices.map(({ state }) => state)).toEqual(['closed']);
    expect(countWaitingCalls()).toBe(0);
  });
});

it('a call that was attempted when its basket was closed, but was not sent, makes no invoice', async () => {
  const { promise: after, resolve: fail } = Promise.withResolvers<void>();
  const send = jest.spyOn(globalThis, 'fetch').mockImplementationOnce(async () => {
    await after;
    throw new TypeError('fetch failed', { cause: { code: 'ENOTFOUND' } });
  });
  const basket = pos.sendBasket('17', 100);
  await waitUntil('the attempt', 5_000, async () => send.mock.calls.length === 1);
  await pos.platform.disconnect();
  const closed = pos.closeBasket('17', 'Complete');
  fail();
  await Promise.all([basket, closed]);
  await pos.platform.reconnect();
  await pos.sendPostponedCalls();
  expect(pos.platform.invoices).toEqual([]);
  expect(countWaitingCalls()).toBe(0);
  send.mockRestore();
});
