/** The whole flow on the platform with the embedded broker: session, page, encrypted card, charge, webhook. */
import { MerchantEndpoint } from '../hosted-payment/merchant-endpoint.ts';
import { Payers } from '../hosted-payment/payer.ts';
import { reconcile } from '../hosted-payment/reconcile.ts';
import { newPlatform } from '../platforms/platform.ts';
import type { Checkout } from './checkout.ts';

const platform = newPlatform('embedded');

export const platformCheckout: Checkout = {
  name: 'Svc Payments, embedded',
  description:
    'a card encrypted and charged once at an acquirer, a ledger, a signed webhook; no catalogue, no shipping',
  start: async () => {
    const running = await platform.start();
    const endpoint = await MerchantEndpoint.start(running.merchant.webhookSecret);
    const payers = new Payers(running.merchant, endpoint);
    let flows = 0;
    return {
      groups: running.groups,
      buy: async () => {
        flows++;
        await payers.pay(performance.now());
      },
      findProblem: async () => (await reconcile(running, endpoint, flows)).difference,
      stop: async () => {
        await payers.close();
        await running.stop();
        await endpoint.stop();
      },
    };
  },
};
