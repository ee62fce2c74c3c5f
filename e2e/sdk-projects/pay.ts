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
  readonly externalReference: string;
  readonly amount: number;
  readonly card: CardData;
}

async function main({ gateway, merchant, partner, session, externalReference, ...payment }: Settings): Promise<object> {
  const { redirectUrl } = await new HostedGatewayClient(gateway).createSession(session);
  const client = new PartnerClient(partner);
  const credentials = { email: `${crypto.randomUUID()}@example.com`, password: crypto.randomUUID() };
  const { userId } = await client.service.createUser({ ...credentials, firstName: 'Thandi', lastName: 'Nkosi' });
  const { customerReference } = await client.service.registerCustomer(userId);
  const { customer } = await client.logInCustomer(credentials);
  const customersOwn = client.asCustomer(credentials);
  const paid = await customersOwn.pay(payment);
  const { status, amount } = await customersOwn.payment(paid.paymentReference);
  const merchantClient = new MerchantClient(merchant);
  const [found] = await repeatUntilFound(() => merchantClient.paymentsOfInvoice(payment.invoiceReference));
  const searched = await merchantClient.searchPayments(externalReference, { from: new Date(0) }).next();
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const { paymentStatus } = verifyWebhook({ ...signTestWebhook({ secret }), secret });
  const card = isCardNumberValid(payment.card.cardNumber);
  return {
    ...{ page: new URL(redirectUrl).pathname, paid: paid.status, found: found?.status, paymentStatus, card },
    ...{ single: status, singleAmount: amount, name: customer.firstName },
    isCustomer: customer.id === customerReference && paid.customer.id === customerReference,
    isSearched: searched.value?.paymentReference === paid.paymentReference,
  };
}

/** A merchant finds a payment within a second of its result. */
async function repeatUntilFound<T>(find: () => Promise<T[]>): Promise<T[]> {
  for (let attempt = 1; ; attempt++) {
    const found = await find();
    if (found.length > 0 || attempt === 50) return found;
    // eslint-disable-next-line no-restricted-syntax -- this program runs outside the repository, without waitUntil
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

void main(JSON.parse(process.env['SETTINGS']!) as Settings).then((done) => console.log(JSON.stringify(done)));
