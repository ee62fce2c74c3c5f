import { PaymentStatus, readPaymentStatus, readResponseStatus, ResponseStatus } from '@svc/contracts';
import { HostedGatewayClient } from '@svc/sdk';

// The SDK has its own enumerations, because it is installed without the platform's packages: both must stay equal.

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

const MALFORMED = /The answer cannot be read: (paymentStatus|status) is missing or malformed/;

/** The payment as the SDK parses it; undefined if it cannot be parsed. */
async function inSdk(change: object): Promise<{ paymentStatus: string; status: string } | undefined> {
  const fetch = () => Promise.resolve(Response.json({ ...payment, ...change }));
  const client = new HostedGatewayClient({ gatewayUrl: 'https://pay.example', merchantId: 1, siteId: 1, fetch });
  return client.getPayment('p').catch((error: Error) => {
    if (MALFORMED.test(error.message)) return undefined;
    throw error;
  });
}

test.each([...new Set(values)])('the SDK and the platform read %j as the same status', async (value) => {
  const [ofPayment, ofAnswer] = [readPaymentStatus(value), readResponseStatus(value)];
  expect((await inSdk({ paymentStatus: value }))?.paymentStatus).toBe(ofPayment && PaymentStatus[ofPayment]);
  expect((await inSdk({ status: value }))?.status).toBe(ofAnswer && ResponseStatus[ofAnswer]);
});
