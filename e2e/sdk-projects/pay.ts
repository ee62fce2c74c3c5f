/** Code of a merchant's and a partner's server with the installed SDK. Prints the results. */
import { HostedGatewayClient, MerchantClient, PartnerClient, signTestWebhook, verifyWebhook } from '@svc/sdk';
import { type CardData, isCardNumberValid } from '@svc/sdk/card';

declare const process: { readonly env: Readonly<Record<string, string>> };

interface Settings {
  readonly gateway: ConstructorParameters<typeof HostedGatewayClient>[0];
  readonly merchant: ConstructorParameters<typeof MerchantClient>[0];
  readonly partner: ConstructorParameters<typeof PartnerClient>[0];
  readonly session: Parameters<HostedGatewayClient['createSession']>[0];
  readonly invoiceReference: string;
  readonly amount: number;
  readonly card: CardData;
}

async function main({ gateway, merchant, partner, session, ...payment }: Settings): Promise<object> {
  const { redirectUrl } = await new HostedGatewayClient(gateway).createSession(session);
  const { service } = new PartnerClient(partner);
  const paid = await service.pay({ ...payment, customer: { id: 'customer-1' } });
  const [found] = await new MerchantClient(merchant).paymentsOfInvoice(payment.invoiceReference);
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const { paymentStatus } = verifyWebhook({ ...signTestWebhook({ secret }), secret });
  const card = isCardNumberValid(payment.card.cardNumber);
  return { page: new URL(redirectUrl).pathname, paid: paid.status, found: found?.status, paymentStatus, card };
}

void main(JSON.parse(process.env['SETTINGS']!) as Settings).then((done) => console.log(JSON.stringify(done)));
