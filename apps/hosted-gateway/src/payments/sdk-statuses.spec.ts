import { PaymentStatus, readPaymentStatus, readResponseStatus, ResponseStatus } from '@svc/contracts';
import { HostedGatewayClient } from '@svc/sdk';

// The SDK declares its own enumerations, because it is installed without the packages of the platform. They must stay
// equal to the enumerations of the platform.

const payment = {
  sessionId: 's',
  amount: 1,
  currencyISOCode: 'ZAR',
  merchantOrderId: 'o',
  paymentReference: 'p',
  paymentStatus: 'Success',
  paymentUTCDate: '2026-03-01T10:00:00.000Z',
  status: 'Success',
};
const values = [...Object.keys(ResponseStatus), ...Object.values(ResponseStatus), 0, 6, 1.5, '', 'Pending', null, true];

const MALFORMED = /The response cannot be read: (paymentStatus|status) is missing or malformed/;

/** Lets the SDK parse a payment response with these fields. Undefined if the SDK rejects the response. */
async function parseWithSdk(fields: object): Promise<{ paymentStatus: string; status: string } | undefined> {
  const fetch = () => Promise.resolve(Response.json({ ...payment, ...fields }));
  const client = new HostedGatewayClient({ gatewayUrl: 'https://pay.example', merchantId: 1, siteId: 1, fetch });
  return client.getPayment('p').catch((error: Error) => {
    if (MALFORMED.test(error.message)) return undefined;
    throw error;
  });
}

test.each([...new Set(values)])(
  'the SDK and the platform parse %j as the same payment status and response status',
  async (value) => {
    const [paymentStatus, responseStatus] = [readPaymentStatus(value), readResponseStatus(value)];
    expect((await parseWithSdk({ paymentStatus: value }))?.paymentStatus).toBe(
      paymentStatus && PaymentStatus[paymentStatus],
    );
    expect((await parseWithSdk({ status: value }))?.status).toBe(responseStatus && ResponseStatus[responseStatus]);
  },
);
