/**
 * The commands `svc-webhook listen` and `svc-webhook trigger`. They send webhooks to a receiver on a developer's
 * machine, which the platform cannot reach.
 */
import { parseArgs } from 'node:util';
import { HostedGatewayClient } from '../hosted-gateway/hosted-gateway-client.js';
import type { PaymentStatus } from '../hosted-payment.js';
import { SvcApiError } from '../svc-api-error.js';
import { forwardWebhooks, postWebhook } from './forward-webhooks.js';
import { FORWARD_HELP } from './help.js';

const STATUSES: Readonly<Record<string, PaymentStatus>> = {
  'payment.succeeded': 'Success',
  'payment.failed': 'Failed',
};

export function isForwardCommand(args: readonly string[]): boolean {
  return args[0] === 'listen' || args[0] === 'trigger';
}

/** @returns the exit code: 0 success, 1 refused by the receiver or the platform, 2 wrong usage */
export async function forwardCommand(
  args: readonly string[],
  write: (line: string) => void,
  signal: AbortSignal,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<0 | 1 | 2> {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        'forward-to': { type: 'string' },
        secret: { type: 'string' },
        'gateway-url': { type: 'string' },
        'merchant-id': { type: 'string' },
        'site-id': { type: 'string' },
        'api-key': { type: 'string' },
        order: { type: 'string' },
        amount: { type: 'string' },
      },
    });
    const option = (name: keyof typeof values, variable: string): string => {
      const value = values[name] ?? environment[variable];
      if (value === undefined || value === '') throw new TypeError(`--${name} is missing`);
      return value;
    };
    const receiver = {
      forwardTo: option('forward-to', 'SVC_FORWARD_TO'),
      secret: option('secret', 'SVC_WEBHOOK_SECRET'),
      write,
    };
    if (!URL.canParse(receiver.forwardTo))
      throw new TypeError('--forward-to must be an address, as in http://localhost:3000/webhooks');
    const [command, event = ''] = positionals;
    if (command === 'trigger') {
      const paymentStatus = Object.hasOwn(STATUSES, event) ? STATUSES[event] : undefined;
      if (!paymentStatus) throw new TypeError(`Trigger one of ${Object.keys(STATUSES).join(', ')}`);
      const amount = values.amount === undefined ? undefined : Number(values.amount);
      if (amount !== undefined && !Number.isSafeInteger(amount))
        throw new TypeError('--amount must be a whole number of cents');
      const payment = {
        paymentStatus,
        ...(paymentStatus === 'Failed' ? { userMessage: 'The card was declined by the bank.' } : {}),
        ...(values.order === undefined ? {} : { merchantOrderId: values.order }),
        ...(amount === undefined ? {} : { amount }),
      };
      const apiKey = values['api-key'] ?? environment['SVC_API_KEY'] ?? 'no key was given';
      return (await postWebhook({ payment }, { ...receiver, apiKey })) ? 0 : 1;
    }
    const apiKey = option('api-key', 'SVC_API_KEY');
    if (!apiKey.startsWith('svc_test_')) throw new TypeError('--api-key must be a key of test mode, svc_test_…');
    const client = new HostedGatewayClient({
      gatewayUrl: option('gateway-url', 'SVC_GATEWAY_URL'),
      merchantId: option('merchant-id', 'SVC_MERCHANT_ID'),
      siteId: option('site-id', 'SVC_SITE_ID'),
      apiKey,
    });
    await forwardWebhooks(client, { ...receiver, apiKey }, signal);
    return 0;
  } catch (error) {
    write((error as Error).message);
    if (error instanceof SvcApiError) return 1;
    for (const line of ['', ...FORWARD_HELP.trimEnd().split('\n')]) write(line);
    return 2;
  }
}
