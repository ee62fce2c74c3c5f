import type { Processor } from '../processor.js';
import type { DeclineCode, DisputeKind } from './contract-terms.js';
import type { ContractNetwork } from './network.js';

/** A card with which a payer pays. */
export interface TestCard {
  readonly cardNumber: string;
  readonly cvv: string;
  readonly expiryMonth: number;
  readonly expiryYear: number;
  readonly holderName: string;
}

export type CardBehaviour =
  | 'approved'
  | 'verificationRequired'
  | 'captureFailsLater'
  | 'refundPending'
  | 'refundDeclined'
  | `declined: ${DeclineCode}`;

/** Calls of the port that a fault can affect. */
export type Operation = 'charge' | 'chargeVerified' | 'capture' | 'reverse' | 'refund' | 'deleteCard' | 'storeCard';

/**
 * A fault of the next call of an operation. After `requestLost`, `responseLost` and `responseLate` the caller's
 * time-out ends its wait, so that no repeat gets the response.
 */
export type Fault =
  | 'noConnection'
  | 'requestLost'
  | 'responseLost'
  | 'responseLate'
  | 'tooManyRequests'
  | 'serverError'
  | 'serverErrorAfterwards'
  | 'notJson'
  | 'notJsonAfterwards';

/** The acquirer's own records of one payment, by the payment's reference. */
export interface AcquirerRecords {
  /** Number of charges that the issuer approved. */
  readonly approvals: number;
  /** Cents that the acquirer has taken from the payer and not returned: captures less refunds, reversals and disputes. */
  readonly heldAmount: number;
  /** Number of approvals that were neither captured nor released. */
  readonly openAuthorisations: number;
}

/** Which reports the acquirer sends now, of those that it withholds. */
export interface ReportSelection {
  readonly kind?: 'charge' | 'capture' | 'reversal' | 'refund';
  readonly order?: 'oldest-first' | 'newest-first';
}

/** Makes one acquirer behave as the cases require. It sends its reports only when a case requests them. */
export interface AcquirerDriver {
  /** Name of the acquirer. */
  readonly acquirer: string;
  readonly capturesSeparately: boolean;
  /** Whether a lost response is repeated under its key within the call. */
  readonly repeatsLostResponses: boolean;
  /** The cases that this acquirer cannot have, each with its reason. */
  readonly impossible: Readonly<Record<string, string>>;
  /** Settings of the service. Called once, before the service starts. */
  start(): Promise<Record<string, string>>;
  /** Called once the service runs, with the recorder of its calls. */
  connect(processor: Processor, network: ContractNetwork): Promise<void>;
  stop(): Promise<void>;
  /** The merchant's account at the acquirer; undefined if the acquirer opens it by itself. */
  accountOf(merchantId: number): string | undefined;
  card(behaviour: CardBehaviour): TestCard;
  causeFault(operation: Operation, fault: Fault): Promise<void>;
  /** The next response of this operation is lost once, so that a repeat under the same key gets it. */
  loseOneResponse(operation: Operation): Promise<void>;
  /** Number of calls of an operation that the acquirer has received since the case began. */
  countCalls(operation: Operation): number;
  /** Answers on the bank's page. Returns the URL to which the bank redirects the payer. */
  answerChallenge(verificationUrl: string, answer: 'pass' | 'fail'): Promise<string>;
  readRecords(paymentReference: string): Promise<AcquirerRecords>;
  /** Sends the withheld reports to the service. Returns their number. */
  deliverReports(selection?: ReportSelection): Promise<number>;
  /** Sends all reports of a payment again that the service has already accepted. */
  repeatReports(paymentReference: string): Promise<void>;
  /** The next request of this kind fails at the acquirer after it was accepted. */
  failNext(operation: 'capture' | 'refund'): Promise<void>;
  /** The card scheme rejects a capture that succeeded. */
  failCapture(paymentReference: string): Promise<void>;
  /** The money of the payment's refund comes back. */
  returnRefund(paymentReference: string, reason: 'failed' | 'reversed'): Promise<void>;
  dispute(paymentReference: string, kind: DisputeKind): Promise<void>;
  /** Whether the vault still has a card of this platform whose number ends with these digits. */
  hasStoredCard(lastFour: string): Promise<boolean>;
  /** The reasons why the calls since the last check contradict the acquirer's published interface. */
  findRequestProblems(): string[];
}
