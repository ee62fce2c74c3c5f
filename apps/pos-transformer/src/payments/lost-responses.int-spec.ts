/** T5: the transformer learns which invoice belongs to a basket, although the response with its id was lost. */
import { waitUntil } from '@svc/testing';
import type { FakeInvoice } from '../../test/fake-platform.js';
import { SITE, TestTransformer } from '../../test/test-transformer.js';
import { AlertRepository } from '../platform/alert.repository.js';
import { OutgoingCallRepository } from '../platform/outgoing-call.repository.js';

let pos: TestTransformer;
beforeEach(async () => (pos = await TestTransformer.start()));
afterEach(() => pos.stop());

describe('an invoice whose response was lost', () => {
  const loseResponse = async (): Promise<FakeInvoice> => {
    pos.platform.outage = 'lost-responses';
    await pos.sendBasket('17', 100);
    pos.platform.outage = undefined;
    return pos.openInvoice();
  };

  it('is returned by the retry if it was paid meanwhile, and not created again', async () => {
    pos.platform.pay(await loseResponse());
    await pos.sendPostponedCalls();
    expect(pos.platform.invoices).toHaveLength(1);
    expect((await pos.getPayment('17')).body).toMatchObject({ StatusId: '2', PaidAmount: 100 });
    expect((await pos.sendBasket('17', 100)).body).toEqual({
      Result: 'OK',
      Message: expect.stringContaining('has been paid'),
    });
  });

  it('is returned by the retry, with the key of the first request', async () => {
    const invoice = await loseResponse();
    await pos.restart();
    await pos.sendPostponedCalls();
    expect((await pos.sendBasket('17', 100)).body.Result).toBe('OK');
    expect(pos.openInvoice()).toBe(invoice);
    expect(invoice.keys).toHaveLength(1);
    // The SDK makes four attempts to create the invoice.
    expect(pos.platform.requests.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'POST', 'POST']);
  });

  it('is created again with a new key if it expired before the retry', async () => {
    const invoice = await loseResponse();
    pos.clock.advance(3_600_000);
    await pos.sendDueCalls();
    expect(pos.platform.invoices).toHaveLength(2);
    expect(pos.openInvoice().keys).not.toEqual(invoice.keys);
    await pos.pay();
    expect((await pos.getPayment('17')).body.StatusId).toBe('2');
  });

  it('is not created again if it expired, and its basket was closed', async () => {
    await loseResponse();
    pos.platform.outage = 'unreachable';
    await pos.closeBasket('17', 'Complete');
    pos.platform.outage = undefined;
    pos.clock.advance(3_600_000);
    await pos.sendDueCalls();
    await pos.sendPostponedCalls();
    expect(pos.platform.invoices).toHaveLength(1);
    const { app } = pos.transformer;
    expect([app.get(OutgoingCallRepository).countWaiting(SITE), app.get(AlertRepository).list(SITE, '')]).toEqual([
      0,
      [],
    ]);
  });

  it('is stored as sent if its payments cannot be read', async () => {
    pos.platform.pay(await loseResponse());
    pos.platform.nextErrors.push({ method: 'GET', status: 401 });
    await pos.sendPostponedCalls();
    await pos.closeBasket('17', 'Complete');
    await pos.sendPostponedCalls();
    expect((await pos.getPayment('17')).body).toMatchObject({ StatusId: '2', PaidAmount: 100 });
  });

  it('counts as closed only if no payment of it is reported within three retries', async () => {
    const invoice = await loseResponse();
    invoice.state = 'closed';
    for (let attempt = 1; attempt <= 3; attempt++) {
      await pos.sendPostponedCalls();
      expect(pos.transformer.app.get(OutgoingCallRepository).countWaiting(SITE)).toBe(1);
    }
    await pos.sendPostponedCalls();
    expect(pos.transformer.app.get(OutgoingCallRepository).countWaiting(SITE)).toBe(0);
    expect((await pos.sendBasket('17', 100)).body.Result).toBe('OK');
    expect(pos.openInvoice()).not.toBe(invoice);
    // A payment that is reported even later belongs to the basket.
    await pos.startStreams();
    pos.platform.pay(invoice);
    await waitUntil('the payment', 5_000, async () => (await pos.getPayment('17')).status === 200);
  });

  it.each(['total', 'Complete'])('belongs to its basket if it was paid before the next request: %s', async (next) => {
    const invoice = await loseResponse();
    pos.platform.outage = 'unreachable';
    if (next === 'total') await pos.sendBasket('17', 150);
    else await pos.closeBasket('17', 'Complete');
    pos.platform.outage = undefined;
    pos.platform.pay(invoice);
    await pos.sendPostponedCalls();
    expect(pos.platform.invoices).toHaveLength(1);
    expect((await pos.getPayment('17')).body).toMatchObject({ StatusId: '2', PaidAmount: 100 });
    expect(pos.transformer.app.get(AlertRepository).list(SITE, '')).toHaveLength(1);
  });

  it('blocks no newer total if the platform always fails to repeat its request', async () => {
    await loseResponse();
    const failures = Array.from({ length: 4 }, () => ({ method: 'POST', status: 500, amount: 100 }));
    pos.platform.nextErrors.push(...failures);
    await pos.sendPostponedCalls();
    expect((await pos.sendBasket('17', 150)).body.Result).toBe('WARN');
    for (let attempt = 1; attempt <= 3; attempt++) await pos.sendPostponedCalls();
    expect(pos.openInvoice().body['amount']).toBe(150);
    expect(pos.transformer.app.get(AlertRepository).list(SITE, '')).toEqual([]);
  });

  it('is returned by the retry before an invoice for a changed basket is created', async () => {
    pos.platform.pay(await loseResponse());
    pos.clock.advance(60_000);
    expect((await pos.sendBasket('17', 150)).body.Result).toBe('WARN');
    expect(pos.platform.invoices).toHaveLength(1);
    expect((await pos.getPayment('17')).body.PaidAmount).toBe(100);
  });

  it('pays its basket even if the retry finds no payment yet, and no second invoice is created', async () => {
    await pos.startStreams();
    const first = await loseResponse();
    first.state = 'paid';
    await pos.sendPostponedCalls();
    expect(pos.platform.invoices).toHaveLength(1);
    pos.platform.pay(first);
    await pos.sendPostponedCalls();
    expect((await pos.getPayment('17')).body).toMatchObject({ StatusId: '2', PaidAmount: 100 });
    expect(pos.platform.openInvoices()).toEqual([]);
  });
});
