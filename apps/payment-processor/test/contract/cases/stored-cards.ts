import { randomUUID } from 'node:crypto';
import { createPartner, openInvoice, type PartnerUnderTest } from '../../partner.js';
import type { ContractWorld } from '../contract-world.js';
import type { ContractCases } from './contract-case.js';

/** The data that the script of our page sends. */
const BROWSER = {
  language: 'en-ZA',
  screenWidth: '1440',
  screenHeight: '900',
  colorDepth: '24',
  timeZoneOffsetMinutes: '-120',
};
const INVOICE_EXPIRES_AT = '2999-01-01T00:00:00.000Z';

async function storeCard(world: ContractWorld, partner: PartnerUnderTest) {
  const { cardNumber, holderName, expiryMonth, expiryYear } = world.driver.card('approved');
  world.cardNumbers.add(cardNumber);
  return partner.call('POST', '/v1/cards', { cardNumber, holderName, expiryMonth, expiryYear });
}

async function payWithToken(world: ContractWorld, partner: PartnerUnderTest, token: string) {
  const { processor, merchantId } = world;
  const siteId = world.newPayable().siteId;
  const invoice = await openInvoice(processor, { merchantId, siteId, expiresAt: INVOICE_EXPIRES_AT });
  const request = { reference: randomUUID(), paymentMethod: { card: { token } } };
  const response = await partner.pay(invoice, request);
  const { verificationUrl } = response.body as { verificationUrl?: string };
  if (verificationUrl === undefined) return response;
  // An acquirer that needs the data of the payer's browser: the payer presses Continue on our page.
  const { pathname, search } = new URL(verificationUrl);
  await processor.service.app.inject({
    method: 'POST',
    url: pathname + search,
    headers: { accept: 'text/html', 'user-agent': 'Mozilla/5.0', 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(BROWSER).toString(),
  });
  return { status: response.status, body: (await partner.pay(invoice, request)).body };
}

const lastFour = (world: ContractWorld): string => world.driver.card('approved').cardNumber.slice(-4);

export const STORED_CARD_CASES: ContractCases = {
  'a card is stored, charged and deleted': async (world) => {
    const partner = await createPartner(world.processor);
    const { status, body } = await storeCard(world, partner);
    expect(status).toBe(201);
    const { token } = body as { token: string };
    for (let payments = 1; payments <= 2; payments++)
      expect(await payWithToken(world, partner, token)).toMatchObject({ status: 201, body: { status: 'success' } });
    expect(await world.driver.hasStoredCard(lastFour(world))).toBe(true);
    expect((await partner.call('DELETE', `/v1/cards/${token}`)).status).toBe(204);
    await world.runJobs();
    expect(await world.driver.hasStoredCard(lastFour(world))).toBe(false);
    expect((await payWithToken(world, partner, token)).status).toBe(404);
  },

  'the response to a deletion is lost, and the deletion is confirmed later': async (world) => {
    const partner = await createPartner(world.processor);
    const { token } = (await storeCard(world, partner)).body as { token: string };
    await partner.call('DELETE', `/v1/cards/${token}`);
    await world.driver.causeFault('deleteCard', 'responseLost');
    await world.settle();
    expect(
      await world.processor.dataSource.query(
        `SELECT vault_deleted_at IS NOT NULL AS "isDeleted" FROM cards WHERE token = $1`,
        [token],
      ),
    ).toEqual([{ isDeleted: true }]);
    expect(await world.driver.hasStoredCard(lastFour(world))).toBe(false);
  },

  'the vault does not respond: no card is stored': async (world) => {
    const partner = await createPartner(world.processor);
    await world.driver.causeFault('storeCard', 'requestLost');
    expect((await storeCard(world, partner)).status).toBe(503);
    expect((await storeCard(world, partner)).status).toBe(201);
  },
};
