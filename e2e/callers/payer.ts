/** A payer without a browser: reads the page, encrypts the card like its script, and sends the page's requests. */
import { randomUUID } from 'node:crypto';
import { type CardData, type CardEncryptionKey, encryptCard } from '@svc/sdk/card';
import { waitUntil } from '@svc/testing';

export const APPROVED = '4242424242424242';
export const APPROVED_CARD: CardData = {
  cardNumber: APPROVED,
  cvv: '123',
  holderName: 'Thandi Nkosi',
  expiryMonth: 12,
  expiryYear: 2035,
};
/** Shorter pauses would delay the services that recover. */
const RESEND_PAUSE_MS = 1_000;

/** The request of one click on Pay. Sending it again does not make a second payment. */
export interface PayRequest {
  readonly sessionId: string;
  /** Base path of the page's calls; defaults to `/pay/<session id>`. */
  readonly callsPath?: string;
  readonly body: string;
}

/** @throws Error when the page shows no form */
export async function preparePayRequest(
  redirectUrl: string,
  cardNumber = APPROVED,
  changes: Partial<CardData> = {},
): Promise<PayRequest> {
  return payRequestFromPage(await (await fetch(redirectUrl)).text(), cardNumber, changes);
}

/**
 * @param page HTML of the payment page
 * @throws Error when the page shows no form
 */
export async function payRequestFromPage(
  page: string,
  cardNumber = APPROVED,
  changes: Partial<CardData> = {},
): Promise<PayRequest> {
  const data = (name: string): string => {
    const value = new RegExp(`data-${name}="([^"]*)"`).exec(page)?.[1];
    if (value === undefined)
      throw new Error(`The page has no data-${name}; its state is ${/data-state="([^"]*)"/.exec(page)?.[1]}`);
    return value.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  };
  const sessionId = data('session-id');
  const paymentNumber = Number(data('payment-number'));
  const card: CardData = { ...APPROVED_CARD, cardNumber, ...changes };
  const encryptedCard = await encryptCard({
    card,
    binding: { sessionId, paymentNumber: paymentNumber, expiresAt: data('expires-at') },
    publicJwk: JSON.parse(data('encryption-key')) as CardEncryptionKey,
  });
  const callsPath = data('calls-path');
  return { sessionId, callsPath, body: JSON.stringify({ reference: randomUUID(), paymentNumber, encryptedCard }) };
}

export interface PayAnswer {
  readonly httpStatus: number;
  readonly state: string | undefined;
}

/** Sends the payment. If the promise rejects, the connection was lost and the outcome is unknown. */
export async function sendPayRequest(
  gatewayUrl: string,
  { sessionId, callsPath = `/pay/${sessionId}`, body }: PayRequest,
  headers: Readonly<Record<string, string>> = {},
): Promise<PayAnswer> {
  const answer = await fetch(`${gatewayUrl}${callsPath}/payments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    signal: AbortSignal.timeout(25_000),
  });
  const { state } = (await answer.json()) as { state?: string };
  return { httpStatus: answer.status, state };
}

/**
 * Sends the same requests again until each has an outcome, as the page's script does after a lost answer.
 *
 * @param beforeRound is called before each round of requests
 */
export async function resendPayRequests(
  gatewayUrl: string,
  payRequests: readonly PayRequest[],
  beforeRound: () => Promise<void>,
): Promise<void> {
  let open = payRequests;
  const sendOpen = async (): Promise<boolean> => {
    await beforeRound();
    const answers = await Promise.allSettled(open.map((one) => sendPayRequest(gatewayUrl, one)));
    open = open.filter((_, index) => !hasOutcome(answers[index]!));
    return open.length === 0;
  };
  await waitUntil('a response to every repeated Pay request', 120_000, sendOpen, RESEND_PAUSE_MS);
}

function hasOutcome(result: PromiseSettledResult<PayAnswer>): boolean {
  return result.status === 'fulfilled' && result.value.httpStatus < 500 && result.value.state !== 'processing';
}
