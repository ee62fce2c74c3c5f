import type { OutboundResponse } from '@svc/outbound';
import { CARDS } from '../encrypted-card.js';
import { type Processor, readBankRecords } from '../processor.js';
import type { AcquirerDriver, AcquirerRecords, CardBehaviour, Fault, Operation, TestCard } from './acquirer-driver.js';
import { connectionRefused, connectionReset, type ContractNetwork, type RecordedCall } from './network.js';

const CAPTURES = 'The simulated bank captures with the charge.';
const REPORTS = 'The simulated bank sends no reports. It is queried.';
const DISPUTES = 'The simulated bank has no disputes.';
const REFUSALS = 'The simulated bank has no such refusal.';
const RETURNS = 'A refund of the simulated bank is final.';

const CARD_NUMBERS: Readonly<Partial<Record<CardBehaviour, string>>> = {
  approved: CARDS.approved,
  verificationRequired: CARDS.verificationRequired,
  refundPending: CARDS.refundPending,
  refundDeclined: CARDS.refundDeclined,
  'declined: card.declined': CARDS.declined,
  'declined: card.insufficient-funds': CARDS.insufficientFunds,
  'declined: card.expired': CARDS.expired,
  'declined: card.incorrect-cvv': CARDS.wrongCvv,
  'declined: card.suspected-fraud': CARDS.stolen,
};

const ROUTES: Readonly<Record<Exclude<Operation, 'chargeVerified'>, readonly [method: string, path: RegExp]>> = {
  charge: ['POST', /^\/charges$/],
  capture: ['POST', /^\/captures$/],
  reverse: ['POST', /^\/charges\/[^/]+\/reversal$/],
  refund: ['POST', /^\/refunds$/],
  storeCard: ['POST', /^\/cards$/],
  deleteCard: ['DELETE', /^\/cards\/[^/]+$/],
};

/** The simulated bank. It has no faults of its own, so that its driver changes the calls to it. */
export class SimulatedDriver implements AcquirerDriver {
  readonly acquirer = 'simulated';
  readonly capturesSeparately = false;
  readonly repeatsLostResponses = false;
  readonly impossible: Readonly<Record<string, string>> = {
    'a charge is declined: card.invalid': REFUSALS,
    'a charge is declined: card.limit-exceeded': REFUSALS,
    'a charge is declined: verification.failed': 'The simulated bank decides this only after its page was shown.',
    'a response is lost once, and a repeat under the same key gets it': 'A query gets the outcome instead.',
    'a report decides a charge whose response was lost': REPORTS,
    'a report declines a charge whose response was lost': REPORTS,
    'a report arrives before the response': REPORTS,
    'each report arrives twice': REPORTS,
    'the reports arrive in the reverse order': REPORTS,
    'no report arrives: the charge is abandoned and released': REPORTS,
    'a declined charge is abandoned, and its report ends the release': REPORTS,
    'an approval is reported after the charge was abandoned': REPORTS,
    'a charge arrives after its release': 'A reversal blocks the key, so that a later charge is refused.',
    'a charge and its report arrive before the report that nothing was released': REPORTS,
    'a verified charge whose response is lost is decided by a report': REPORTS,
    'a verified charge without a response and a report is released': REPORTS,
    'an approval is captured once': CAPTURES,
    'a request to capture is lost': CAPTURES,
    'the response to a capture is lost': CAPTURES,
    'a request to capture meets an error of the server': CAPTURES,
    'a capture fails at once': CAPTURES,
    'a capture fails days later': CAPTURES,
    'a refund is requested before the capture': CAPTURES,
    'a refund fails after its success': RETURNS,
    'a refund is returned after its success': RETURNS,
    'the reports of a refund arrive twice and in the reverse order': REPORTS,
    'a dispute without a debit': DISPUTES,
    'a dispute is debited and lost': DISPUTES,
    'a dispute is debited, reversed and debited again': DISPUTES,
    'the reports of a dispute arrive twice and in the reverse order': DISPUTES,
  };
  private processor!: Processor;
  private network!: ContractNetwork;

  start(): Promise<Record<string, string>> {
    return Promise.resolve({});
  }

  connect(processor: Processor, network: ContractNetwork): Promise<void> {
    [this.processor, this.network] = [processor, network];
    return Promise.resolve();
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  accountOf(): undefined {
    return undefined;
  }

  card(behaviour: CardBehaviour): TestCard {
    const cardNumber = CARD_NUMBERS[behaviour];
    if (cardNumber === undefined) throw new Error(`The simulated bank has no card that is ${behaviour}.`);
    return { cardNumber, cvv: '123', expiryMonth: 12, expiryYear: 2035, holderName: 'T Payer' };
  }

  causeFault(operation: Operation, fault: Fault): Promise<void> {
    const matches = (request: Pick<RecordedCall, 'method' | 'url'> & { body?: string }): boolean =>
      isCallOf(operation, { ...request, body: request.body ?? '' });
    this.network.interceptNext(matches, async (request, call) => {
      switch (fault) {
        case 'noConnection':
          throw connectionRefused();
        case 'requestLost':
          this.network.expire(request);
          throw connectionReset();
        case 'responseLost':
          await call();
          this.network.expire(request);
          throw connectionReset();
        case 'responseLate':
          await call();
          this.network.expire(request);
          throw request.signal?.reason ?? connectionReset();
        case 'tooManyRequests':
          return textResponse(429, '{"message":"Too many requests."}');
        case 'serverError':
          return textResponse(503, '{"message":"Not available."}');
        case 'serverErrorAfterwards':
          await call();
          return textResponse(503, '{"message":"Not available."}');
        case 'notJson':
          return textResponse(200, '<html></html>');
        case 'notJsonAfterwards':
          await call();
          return textResponse(200, '<html></html>');
      }
    });
    return Promise.resolve();
  }

  loseOneResponse(): Promise<never> {
    return notPossible();
  }

  countCalls(operation: Operation): number {
    return this.network.calls.filter((call) => isCallOf(operation, call)).length;
  }

  async answerChallenge(verificationUrl: string, answer: 'pass' | 'fail'): Promise<string> {
    const body = new URLSearchParams({ answer: answer === 'pass' ? 'confirm' : 'refuse' });
    const { headers } = await fetch(verificationUrl, { method: 'POST', body, redirect: 'manual' });
    return headers.get('location')!;
  }

  readRecords(paymentReference: string): Promise<AcquirerRecords> {
    const last = new Map<unknown, Record<string, unknown>>();
    for (const record of readBankRecords(this.processor))
      if (record['paymentReference'] === paymentReference) last.set(record['refundKey'] ?? record['key'], record);
    const records = [...last.values()];
    const sumOf = (isIncluded: (record: Record<string, unknown>) => boolean): number =>
      records.filter(isIncluded).reduce((sum, { amount }) => sum + (amount as number), 0);
    const isRefund = (record: Record<string, unknown>): boolean => record['refundKey'] !== undefined;
    return Promise.resolve({
      approvals: records.filter((record) => !isRefund(record) && record['charged'] === true).length,
      heldAmount:
        sumOf((record) => !isRefund(record) && record['outcome'] === 'approved') -
        sumOf((record) => isRefund(record) && record['outcome'] === 'succeeded'),
      openAuthorisations: 0,
    });
  }

  deliverReports(): Promise<number> {
    return Promise.resolve(0);
  }

  repeatReports(): Promise<never> {
    return notPossible();
  }

  /** The card of the payment decides about refunds. */
  failNext(operation: 'capture' | 'refund'): Promise<void> {
    return operation === 'refund' ? Promise.resolve() : notPossible();
  }

  failCapture(): Promise<never> {
    return notPossible();
  }

  returnRefund(): Promise<never> {
    return notPossible();
  }

  dispute(): Promise<never> {
    return notPossible();
  }

  /** The bank makes a deleted card one that is declined. It keeps no digits of a card, and a case stores one card. */
  hasStoredCard(): Promise<boolean> {
    const cards = readBankRecords(this.processor).filter(({ vaultToken }) => vaultToken !== undefined);
    return Promise.resolve(cards.at(-1)?.['behaviour'] !== 'declined');
  }

  findRequestProblems(): string[] {
    return [];
  }
}

function isCallOf(operation: Operation, { method, url, body }: Pick<RecordedCall, 'method' | 'url' | 'body'>): boolean {
  const [expected, path] = ROUTES[operation === 'chargeVerified' ? 'charge' : operation];
  if (method !== expected || !path.test(url.pathname)) return false;
  if (operation !== 'charge' && operation !== 'chargeVerified') return true;
  return body.includes('"challengeReference"') === (operation === 'chargeVerified');
}

function textResponse(statusCode: number, text: string): OutboundResponse {
  return { statusCode, headers: {}, body: Buffer.from(text) };
}

function notPossible(): Promise<never> {
  return Promise.reject(new Error('The simulated bank cannot do this.'));
}
