/** A payer without a browser: reads the page, encrypts the card as its script does, and makes the page's own calls. */
import { randomUUID } from 'node:crypto';
import { type CardData, type CardEncryptionKey, encryptCard } from '@svc/sdk/card';

export const APPROVED = '4242424242424242';

/** What one press of Pay sends; sending it again is the same payment. */
export interface PressOfPay {
  readonly sessionId: string;
  /** Where the page's calls begin; of the session where it is left out. */
  readonly callsPath?: string;
  readonly body: string;
}

/** @throws Error when the page shows no form */
export async function fillIn(redirectUrl: string, cardNumber = APPROVED): Promise<PressOfPay> {
  return fillInPage(await (await fetch(redirectUrl)).text(), cardNumber);
}

/**
 * @param page HTML of the payment page
 * @throws Error when it shows no form
 */
export async function fillInPage(page: string, cardNumber = APPROVED): Promise<PressOfPay> {
  const data = (name: string): string => {
    const value = new RegExp(`data-${name}="([^"]*)"`).exec(page)?.[1];
    if (value === undefined)
      throw new Error(`The page has no data-${name}; its state is ${/data-state="([^"]*)"/.exec(page)?.[1]}`);
    return value.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  };
  const sessionId = data('session-id');
  const tryNumber = Number(data('try'));
  const card: CardData = { cardNumber, cvv: '123', holderName: 'Thandi Nkosi', expiryMonth: 12, expiryYear: 2035 };
  const encryptedCard = await encryptCard({
    card,
    binding: { sessionId, try: tryNumber, expiresAt: data('expires-at') },
    publicJwk: JSON.parse(data('encryption-key')) as CardEncryptionKey,
  });
  const callsPath = data('calls-path');
  return { sessionId, callsPath, body: JSON.stringify({ reference: randomUUID(), try: tryNumber, encryptedCard }) };
}

export interface Pressed {
  readonly httpStatus: number;
  readonly state: string | undefined;
}

/** Presses Pay. Rejects when the connection is lost, which says nothing about the payment. */
export async function press(
  gatewayUrl: string,
  { sessionId, callsPath = `/pay/${sessionId}`, body }: PressOfPay,
  headers: Readonly<Record<string, string>> = {},
): Promise<Pressed> {
  const answer = await fetch(`${gatewayUrl}${callsPath}/payments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    signal: AbortSignal.timeout(25_000),
  });
  const { state } = (await answer.json()) as { state?: string };
  return { httpStatus: answer.status, state };
}

/** As the page's script does when an answer was lost: the same press again, until somebody answers. */
export async function pressAgain(gatewayUrl: string, pressOfPay: PressOfPay): Promise<Pressed | undefined> {
  try {
    const pressed = await press(gatewayUrl, pressOfPay);
    return pressed.httpStatus < 500 && pressed.state !== 'processing' ? pressed : undefined;
  } catch {
    return undefined;
  }
}
