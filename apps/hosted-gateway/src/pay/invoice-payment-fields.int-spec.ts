import { randomUUID } from 'node:crypto';
import { type ChargeInvoice, ChargeInvoiceV1, type InvoiceSource, type PayableDescriptor } from '@svc/contracts';
import type { ReplyEnvelope } from '@svc/messaging';
import { buildPayment, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { createInvoice } from '../../test/till-invoices.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

type Payable = PayableDescriptor<InvoiceSource>;
const callsPath = ({ source }: Payable): string => `/c/${source.code}`;
const pay = (invoice: Payable, overrides: object = {}) =>
  gateway.call('POST', `${callsPath(invoice)}/payments`, {
    payload: { reference: randomUUID(), paymentNumber: 1, encryptedCard: 'a.b.c', ...overrides },
  });
/** Simulates payment-processor. Returns the list of the received ChargeInvoice commands. */
async function recordCharges(createReply: (command: ChargeInvoice) => ReplyEnvelope): Promise<ChargeInvoice[]> {
  const commands: ChargeInvoice[] = [];
  await gateway.respondTo(ChargeInvoiceV1, (command) => {
    commands.push(command);
    return createReply(command);
  });
  return commands;
}
const successReply = ({ payable, reference, amount, tipAmount }: ChargeInvoice): ReplyEnvelope => ({
  ok: true,
  reply: buildPayment(payable, { reference, amount, tipAmount, version: 3, modifiedUTCDate: gateway.clock.nowISO() }),
});

describe('the fields of a payment of an invoice', () => {
  test.each([{ amount: 0 }, { amount: 1.5 }, { amount: '100' }, { tipAmount: -1 }, { tipAmount: 100_000_000_001 }])(
    'do not allow %j: the request is rejected with 400 and an error that names the field',
    async (amounts) => {
      const { status, body } = await pay(await createInvoice(gateway, merchant), amounts);
      expect([status, body.errors]).toEqual([
        400,
        [{ message: expect.stringMatching(new RegExp(`^${Object.keys(amounts)[0]} must`)) }],
      ]);
    },
  );

  test('are not needed for amounts that are null, which are missing amounts', async () => {
    const invoice = await createInvoice(gateway, merchant);
    const commands = await recordCharges(successReply);
    expect((await pay(invoice, { amount: null, tipAmount: null, browser: null })).status).toBe(200);
    expect(commands).toMatchObject([{ amount: 8_950, tipAmount: 0 }]);
  });

  test('do not allow a key twice: the request is rejected with 400 and an error that names the key', async () => {
    const commands = await recordCharges(successReply);
    const response = await gateway.call('POST', `${callsPath(await createInvoice(gateway, merchant))}/payments`, {
      headers: { 'content-type': 'application/json' },
      payload: `{"reference":"${randomUUID()}","paymentNumber":1,"encryptedCard":"a.b.c","amount":1,"amount":8950}`,
    });
    expect([response.status, response.body.errors]).toEqual([400, [{ message: 'amount must not be sent twice' }]]);
    expect(commands).toEqual([]);
  });
});
