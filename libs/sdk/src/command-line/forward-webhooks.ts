/**
 * For a merchant's developer: posts the notifications of a test site to a local receiver, signed as the platform signs
 * them. It reads the feed of notifications, so the platform need not reach this machine.
 */
import type { HostedGatewayClient } from '../hosted-gateway/hosted-gateway-client.js';
import type { HostedPayment } from '../hosted-payment.js';
import { signTestWebhook } from '../webhooks/signed-webhook.js';
import { createSigner } from '../webhooks/verify-webhook.js';

interface ForwardOptions {
  /** The URL of your receiver, as in http://localhost:3000/webhooks. */
  forwardTo: string;
  /** The secret with which your receiver verifies webhooks: the site's secret, or any other `whsec_…`. */
  secret: string;
  /** The API key for the older `signature` in the body. */
  apiKey: string;
  /** Receives a line for each posted notification, with the receiver's response. */
  write: (line: string) => void;
  fetch?: typeof globalThis.fetch;
  wait?: (milliseconds: number) => Promise<void>;
}

const POLL_INTERVAL_MS = 1_000;
const RESPONSE_TIMEOUT_MS = 10_000;
const MAX_SHOWN_CHARACTERS = 200;

/**
 * Posts one notification and reports the result. Does not throw if the receiver is unreachable, which is a usual case.
 */
export async function postWebhook(
  { id, payment }: { id?: string; payment: Partial<HostedPayment> },
  { forwardTo, secret, apiKey, write, fetch = globalThis.fetch }: ForwardOptions,
): Promise<boolean> {
  const { headers, rawBody } = signTestWebhook({ payment, secret, apiKey, ...(id === undefined ? {} : { id }) });
  const { merchantOrderId, paymentStatus, amount } = JSON.parse(rawBody) as HostedPayment;
  const summary = `${paymentStatus} of ${amount} cents for ${merchantOrderId}`;
  try {
    const response = await fetch(forwardTo, {
      method: 'POST',
      headers: { ...headers },
      body: rawBody,
      redirect: 'manual',
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    });
    write(`${summary}: answered ${response.status}${response.ok ? '' : ', which the platform would try again'}`);
    const explanation = explainAnswer(response, forwardTo, await readBeginning(response));
    if (explanation !== '') write(explanation);
    return response.ok;
  } catch (error) {
    const { cause, message } = error as Error;
    write(`${summary}: no response from ${forwardTo} (${cause instanceof Error ? cause.message : message})`);
    return false;
  }
}

function explainAnswer({ ok, status, headers }: Response, url: string, text: string): string {
  if ([301, 302, 303, 307, 308].includes(status)) {
    const address = URL.parse(headers.get('location') ?? '', url)?.href;
    return `Redirects are not followed${address === undefined ? '.' : `. Use the final address: ${address}`}`;
  }
  if (!ok) return text;
  return /^\s*<(!doctype|html)\b/i.test(text)
    ? 'The answer is an HTML page, which counts as delivered: check that this is the address of your receiver.'
    : '';
}

/** The beginning of the answer, without control characters. The status alone decides, so a body that breaks off is no error. */
async function readBeginning(response: Response): Promise<string> {
  try {
    const { value } = (await response.body?.getReader().read()) ?? {};
    return new TextDecoder()
      .decode(value)
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, MAX_SHOWN_CHARACTERS);
  } catch {
    return '';
  }
}

/**
 * Forwards new notifications until `signal` is aborted.
 *
 * @throws SvcApiError if the feed cannot be read at the beginning
 * @throws WebhookVerificationError `bad-secret`
 */
export async function forwardWebhooks(
  client: Pick<HostedGatewayClient, 'listNotifications'>,
  forwarding: ForwardOptions,
  signal: AbortSignal,
): Promise<void> {
  const { write, wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms)) } = forwarding;
  createSigner(forwarding.secret);
  // Existing notifications are not forwarded: read to the end of the feed.
  let after: string | undefined;
  for (let hasMore = true; hasMore && !signal.aborted;)
    ({ after = after, hasMore } = await client.listNotifications(after));
  write(`Ready: notifications go to ${forwarding.forwardTo}. Ctrl+C ends it.`);
  while (!signal.aborted) {
    try {
      const page = await client.listNotifications(after);
      for (const { id, payment } of page.notifications) await postWebhook({ id, payment }, forwarding);
      after = page.after ?? after;
      if (page.hasMore) continue;
    } catch (error) {
      write(`The feed cannot be read, trying again: ${(error as Error).message}`);
    }
    await wait(POLL_INTERVAL_MS);
  }
}
