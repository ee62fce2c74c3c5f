/** The whole flow on the platform: session, page, encrypted card, charge, webhook; embedded. */
import { compareBooks } from '../hosted-payment/books.ts';
import { MerchantEndpoint } from '../hosted-payment/merchant-endpoint.ts';
import { Payers } from '../hosted-payment/payer.ts';
import { platform } from '../platforms/platform.ts';
import type { Checkout } from './checkout.ts';

export const hostedPayment: Checkout = {
  name: 'Svc Payments, embedded',
  remark: 'a card encrypted and charged once at an acquirer, a ledger, a signed webhook; no catalogue, no shipping',
  start: async () => {
    const running = await platform('embedded').start(0);
    const endpoint = await MerchantEndpoint.start(running.merchant.webhookSecret);
    const payers = new Payers(running.merchant, endpoint);
    let flows = 0;
    return {
      groups: running.groups,
      buy: async () => {
        flows++;
        await payers.pay(performance.now());
      },
      problem: async () => (await compareBooks(running, endpoint, flows)).disagreement,
      stop: async () => {
        await payers.close();
        await running.stop();
        await endpoint.stop();
      },
    };
  },
};
