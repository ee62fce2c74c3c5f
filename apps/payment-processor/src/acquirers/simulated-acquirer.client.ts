import { isText, MAX_IDENTIFIER_LENGTH, type Mode } from '@svc/contracts';
import { Pool } from 'undici';
import type { Card } from '../card-data/card.js';
import type { PaymentProcessorConfig } from '../config.js';
import {
  Acquirer,
  type AskedOutcome,
  type AskedRefundOutcome,
  type CardCharge,
  type ChallengeState,
  type ChargeOutcome,
  type ChargeTerms,
  type DeclineCode,
  type MerchantAccount,
  type RefundOutcome,
  type RefundTerms,
  type ReversalOutcome,
  type StatementPage,
  type StoredCard,
  type VerifiedCharge,
} from './acquirer.js';
import { asRefundOutcome, asStatementPage } from './simulated-acquirer.answers.js';

/** What the simulated acquirer answers (apps/simulated-acquirer). */
interface ChargeRecord {
  readonly outcome: 'approved' | 'declined' | 'reversed' | 'challenged';
  readonly reason?: string;
  readonly acquirerReference: string;
  readonly charged: boolean;
  readonly challenge?: { readonly reference: string };
  readonly challengeUrl?: string;
}

const DECLINE_CODES: Readonly<Record<string, DeclineCode>> = {
  declined: 'card.declined',
  'insufficient-funds': 'card.insufficient-funds',
  expired: 'card.expired',
  'incorrect-cvv': 'card.incorrect-cvv',
  'not-verified': 'verification.failed',
};

/** Longest wait for an answer to a question or a reversal; a charge brings its own. */
const ASK_TIMEOUT_MS = 5_000;
/** Largest answer that is read. */
const ANSWER_BYTES_MAX = 64 * 1024;

/** Speaks to the simulated acquirer over HTTP. Anything but a clear answer is `unknown`. */
export class SimulatedAcquirerClient extends Acquirer {
  override readonly name = 'simulated';
  private readonly pool: Pool;

  constructor(
    url: string,
    connectionsMax: number,
    private readonly servesLive: boolean,
  ) {
    super();
    this.pool = new Pool(url, {
      connections: connectionsMax,
      connect: { timeout: 2_000 },
      maxResponseSize: ANSWER_BYTES_MAX,
    });
  }

  static from(config: PaymentProcessorConfig): SimulatedAcquirerClient {
    const servesLive = config.SVC_ACQUIRER_LIVE === 'simulated';
    if (servesLive && config.SVC_ENVIRONMENT !== 'development')
      throw new Error('SVC_ACQUIRER_LIVE=simulated is for development: the simulated acquirer takes no money.');
    return new SimulatedAcquirerClient(config.SVC_ACQUIRER_URL, config.SVC_ACQUIRER_CONCURRENCY, servesLive);
  }

  override serves(mode: Mode): boolean {
    return mode === 'test' || this.servesLive;
  }

  /** The simulated bank opens an account for every merchant by itself. */
  override defaultAccountOf(merchantId: number): string {
    return `merchant-${merchantId}`;
  }

  override charge({ card, payerReturnUrl, payer, ...terms }: CardCharge, signal: AbortSignal): Promise<ChargeOutcome> {
    const source = 'vaultToken' in card ? { vaultToken: card.vaultToken } : { cardNumber: card.cardNumber };
    return this.post(terms.account, { ...bodyOf(terms), ...source, returnUrl: payerReturnUrl, payer }, signal);
  }

  override async storeCard({ cardNumber }: Card, mode: Mode): Promise<StoredCard | 'invalid' | 'unknown'> {
    try {
      const answer = await this.pool.request({
        method: 'POST',
        path: '/cards',
        headers: { ...JSON_BODY, ...modeHeader(mode) },
        body: JSON.stringify({ cardNumber }),
        signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
      });
      if (answer.statusCode === 200) {
        const { vaultToken } = (await answer.body.json()) as { vaultToken?: unknown };
        return isText(vaultToken, MAX_IDENTIFIER_LENGTH) ? { vaultToken } : 'unknown';
      }
      await answer.body.dump();
      return answer.statusCode === 400 ? 'invalid' : 'unknown';
    } catch {
      return 'unknown';
    }
  }

  override async forgetCard({ vaultToken }: StoredCard, mode: Mode): Promise<boolean> {
    try {
      const answer = await this.pool.request({
        method: 'DELETE',
        path: `/cards/${encodeURIComponent(vaultToken)}`,
        headers: modeHeader(mode),
        signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
      });
      await answer.body.dump();
      return answer.statusCode === 204;
    } catch {
      return false;
    }
  }

  override chargeVerified(charge: VerifiedCharge, signal: AbortSignal): Promise<ChargeOutcome> {
    return this.post(charge.account, { ...bodyOf(charge), challengeReference: charge.challengeReference }, signal);
  }

  private async post(account: MerchantAccount, body: object, signal: AbortSignal): Promise<ChargeOutcome> {
    const request = {
      method: 'POST',
      path: '/charges',
      headers: { ...JSON_BODY, ...accountHeaders(account) },
      body: JSON.stringify(body),
      signal,
    } as const;
    try {
      const answer = await this.pool.request(request);
      const record =
        answer.statusCode === 200 ? ((await answer.body.json()) as ChargeRecord | null) : await answer.body.dump();
      return record ? asOutcome(record) : { kind: 'unknown' };
    } catch (error) {
      // Nothing was sent where no connection was made; whatever else went wrong, the charge may have happened.
      return neverConnected(error) ? { kind: 'notAttempted' } : { kind: 'unknown' };
    }
  }

  override async askChallenge(challengeReference: string, account: MerchantAccount): Promise<ChallengeState> {
    const { body } = await this.get(`/challenges/${encodeURIComponent(challengeReference)}/state`, account);
    const { state } = (body ?? {}) as { state?: string };
    return state === 'pending' || state === 'passed' || state === 'failed' ? state : 'unknown';
  }

  override async ask(idempotencyKey: string, account: MerchantAccount): Promise<AskedOutcome> {
    const { status, body } = await this.get(`/charges/${encodeURIComponent(idempotencyKey)}`, account);
    if (status === 200) return asOutcome(body as ChargeRecord | null);
    return { kind: status === 404 ? 'notFound' : 'unknown' };
  }

  override async reverse(idempotencyKey: string, account: MerchantAccount): Promise<ReversalOutcome> {
    try {
      const answer = await this.pool.request({
        method: 'POST',
        path: `/charges/${encodeURIComponent(idempotencyKey)}/reversal`,
        headers: accountHeaders(account),
        signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
      });
      if (answer.statusCode === 200) {
        const { outcome, charged } = ((await answer.body.json()) ?? {}) as Partial<ChargeRecord>;
        if (outcome === 'reversed') return asReversed(charged) ?? { kind: 'unconfirmed' };
        return { kind: 'unconfirmed' };
      }
      await answer.body.dump();
    } catch {
      // Not confirmed: repeated until it is.
    }
    return { kind: 'unconfirmed' };
  }

  override async refund(refund: RefundTerms, signal: AbortSignal): Promise<RefundOutcome> {
    const { idempotencyKey: key, chargeKey, amount } = refund;
    try {
      const answer = await this.pool.request({
        method: 'POST',
        path: '/refunds',
        headers: { ...JSON_BODY, ...accountHeaders(refund.account) },
        body: JSON.stringify({ key, chargeKey, amount }),
        signal,
      });
      if (answer.statusCode === 200) return asRefundOutcome(await answer.body.json());
      await answer.body.dump();
    } catch {
      // It may have happened: asked about until it is known.
    }
    return { kind: 'unknown' };
  }

  override async askRefund(idempotencyKey: string, account: MerchantAccount): Promise<AskedRefundOutcome> {
    const { status, body } = await this.get(`/refunds/${encodeURIComponent(idempotencyKey)}`, account);
    if (status === 200) return asRefundOutcome(body);
    return { kind: status === 404 ? 'notFound' : 'unknown' };
  }

  override async readStatement(day: string, account: MerchantAccount, next = '0'): Promise<StatementPage | undefined> {
    const path = `/statements/${encodeURIComponent(day)}?after=${encodeURIComponent(next)}`;
    const { status, body } = await this.get(path, account);
    return status === 200 ? asStatementPage(body) : undefined;
  }

  /** Status 0: no answer, or none that can be read. */
  private async get(path: string, account: MerchantAccount): Promise<{ status: number; body: unknown }> {
    try {
      const answer = await this.pool.request({
        method: 'GET',
        path,
        headers: accountHeaders(account),
        signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
      });
      if (answer.statusCode === 200) return { status: 200, body: await answer.body.json() };
      await answer.body.dump();
      return { status: answer.statusCode, body: undefined };
    } catch {
      return { status: 0, body: undefined };
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.close();
  }
}

const JSON_BODY = { 'content-type': 'application/json' };
/** Says whether the call is about test or live money; without it the simulated acquirer takes it for test. */
const modeHeader = (mode: Mode): Record<string, string> => ({ 'acquirer-mode': mode });
const accountHeaders = ({ mode, accountReference }: MerchantAccount): Record<string, string> => ({
  ...modeHeader(mode),
  'acquirer-account': accountReference,
});
/** Longest address of a page that is handed on to a payer. */
const URL_LENGTH_MAX = 2048;

function bodyOf(terms: ChargeTerms): Record<string, string | number> {
  const { idempotencyKey: key, paymentReference, amount, currencyISOCode: currency } = terms;
  return { key, paymentReference, amount, currency };
}

/** Only what the acquirer is known to say means anything: every other answer leaves the outcome unknown. */
function asOutcome(record: Partial<ChargeRecord> | null): Exclude<ChargeOutcome, { kind: 'notAttempted' }> {
  const { outcome, acquirerReference, charged } = record ?? {};
  if (!isText(acquirerReference, MAX_IDENTIFIER_LENGTH)) return { kind: 'unknown' };
  switch (outcome) {
    case 'approved':
      return { kind: 'approved', acquirerReference };
    case 'declined':
      return { kind: 'declined', reason: DECLINE_CODES[record?.reason ?? ''] ?? 'card.declined', acquirerReference };
    case 'challenged':
      return asChallenge(record);
    case 'reversed':
      return asReversed(charged) ?? { kind: 'unknown' };
    default:
      return { kind: 'unknown' };
  }
}

function asChallenge(record: Partial<ChargeRecord> | null): Exclude<ChargeOutcome, { kind: 'notAttempted' }> {
  const { challenge, challengeUrl = '' } = record ?? {};
  const isUsable = challengeUrl.length <= URL_LENGTH_MAX && /^https?:$/.test(URL.parse(challengeUrl)?.protocol ?? '');
  // No payer could be verified there; it ends when the key is reversed.
  if (!challenge || !isUsable) return { kind: 'unknown' };
  return { kind: 'verificationRequired', challenge: { reference: challenge.reference, url: challengeUrl } };
}

/** Undefined where the acquirer does not say whether it had charged. */
function asReversed(charged: unknown): { kind: 'reversed' } | { kind: 'neverCharged' } | undefined {
  if (typeof charged !== 'boolean') return undefined;
  return { kind: charged ? 'reversed' : 'neverCharged' };
}

function neverConnected(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'ECONNREFUSED' || code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ENOTFOUND';
}
