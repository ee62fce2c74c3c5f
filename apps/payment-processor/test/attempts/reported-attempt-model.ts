import {
  type AcquirerResponse,
  ATTEMPT_TRANSITIONS,
  type AttemptState,
  CHARGEABLE_STATES,
  conclude,
  recoveryStep,
  REVERSE_AFTER_MS,
} from '../../src/payments/attempt.js';
import { Violation } from './attempt-model.js';

/**
 * The rules of a model with one attempt at an acquirer that captures separately and answers no queries: the process that
 * charges it, the recovery, the jobs that capture and release, the acquirer, and the acquirer's reports. Each step is one
 * SQL statement or one message. The charging process may crash before any step. A report may arrive before the response
 * to the charge, after it, twice, in any order, or never. The model uses the decision functions of the production code.
 */
export interface ReportedRules {
  readonly conclude: typeof conclude;
  readonly recoveryStep: typeof recoveryStep;
  /** Whether the end of the attempt after this response also requests the release. */
  readonly requestsRelease: (response: AcquirerResponse['kind']) => boolean;
  /** Whether an approval that arrives too late requests a release that had already ended without finding a charge. */
  readonly requestsReleaseAgain: boolean;
  /**
   * Whether a report that no charge was found is ignored after an approval was recorded, because the acquirer sent it
   * before the charge arrived.
   */
  readonly knowsApprovals: boolean;
  /** Whether the report that the issuer declined ends the release of an abandoned charge. */
  readonly declineEndsRelease: boolean;
  /** Whether a charge is captured, by the state of its payment. */
  readonly captures: (payment: ReportedWorld['payment']) => boolean;
}

export const REPORTED_RULES: ReportedRules = {
  conclude,
  recoveryStep,
  requestsRelease: (response) => response === 'abandoned',
  requestsReleaseAgain: true,
  knowsApprovals: true,
  declineEndsRelease: true,
  captures: (payment) => payment === 'success',
};

export const ISSUERS = ['approves', 'declines'] as const;
export type Issuer = (typeof ISSUERS)[number];

/** How often the acquirer still sends a report. A report may also be lost (0 sends). */
type Sends = 0 | 1 | 2;

export interface ReportedWorld {
  readonly row: AttemptState;
  readonly payment: 'processing' | 'success' | 'failed';
  readonly payer: { readonly at: 'send' | 'sent' | 'settle' | 'end'; readonly response?: AcquirerResponse['kind'] };
  readonly ageMs: number;
  /** The charge on its way to the acquirer, or the response on its way back. It arrives even if its sender has crashed. */
  readonly charge: 'none' | 'sent' | 'answered';
  readonly bank: 'none' | 'authorised' | 'declined' | 'cancelled' | 'captured';
  readonly capture: 'none' | 'due' | 'requested';
  readonly release: 'none' | 'requested' | 'reversed' | 'notFound';
  readonly chargeReports: Sends;
  /** All reports of the charge were lost. */
  readonly isReportLost: boolean;
  /** An approval was recorded after the attempt had ended without a charge. */
  readonly isApprovalSeen: boolean;
  /** Reports of cancellations that are on their way: whether a charge was found. */
  readonly cancelReport: 'none' | 'reversed' | 'notFound';
}

export const INITIAL_REPORTED_WORLD: ReportedWorld = {
  row: 'started',
  payment: 'processing',
  payer: { at: 'send' },
  ageMs: 0,
  charge: 'none',
  bank: 'none',
  capture: 'none',
  release: 'none',
  chargeReports: 0,
  isReportLost: false,
  isApprovalSeen: false,
  cancelReport: 'none',
};

function buildResponse(kind: AcquirerResponse['kind']): AcquirerResponse {
  if (kind === 'approved') return { kind, acquirerReference: 'a' };
  if (kind === 'declined') return { kind, acquirerReference: 'a', reason: 'card.declined' };
  return { kind } as AcquirerResponse;
}

const DECISIONS = {
  authorised: 'approved',
  captured: 'approved',
  cancelled: 'approved',
  declined: 'declined',
} as const;

/** All worlds that one more step can lead to. */
export function listNextReportedWorlds(world: ReportedWorld, issuer: Issuer, rules: ReportedRules): ReportedWorld[] {
  return [
    ...(world.ageMs < REVERSE_AFTER_MS ? [{ ...world, ageMs: REVERSE_AFTER_MS }] : []),
    ...payerSteps(world, rules),
    ...recoverySteps(world, rules),
    ...acquirerSteps(world, issuer),
    ...jobSteps(world, rules),
    ...reportSteps(world, rules),
  ];
}

function payerSteps(world: ReportedWorld, rules: ReportedRules): ReportedWorld[] {
  const { payer, charge, bank } = world;
  const crashed: ReportedWorld = { ...world, payer: { at: 'end' } };
  switch (payer.at) {
    case 'send':
      return [crashed, { ...world, payer: { at: 'sent' }, charge: 'sent' }];
    case 'sent':
      return [
        crashed,
        { ...world, payer: { at: 'settle', response: 'unknown' } },
        ...(charge === 'answered' && bank !== 'none'
          ? [{ ...world, payer: { at: 'settle' as const, response: DECISIONS[bank] } }]
          : []),
      ];
    case 'settle':
      return [crashed, { ...settle(world, payer.response!, rules), payer: { at: 'end' } }];
    case 'end':
      return [];
  }
}

function recoverySteps(world: ReportedWorld, rules: ReportedRules): ReportedWorld[] {
  if (!CHARGEABLE_STATES.includes(world.row)) return [];
  const step = rules.recoveryStep(world.row, world.ageMs, true);
  if (step === 'reverse') throw new Violation('a charge that is captured separately is reversed');
  return [settle(world, step === 'abandon' ? 'abandoned' : 'unknown', rules)];
}

function acquirerSteps(world: ReportedWorld, issuer: Issuer): ReportedWorld[] {
  if (world.charge !== 'sent') return [];
  const bank = issuer === 'approves' ? 'authorised' : 'declined';
  return [{ ...world, charge: 'answered', bank, chargeReports: 2 }];
}

function jobSteps(world: ReportedWorld, rules: ReportedRules): ReportedWorld[] {
  const captured: ReportedWorld[] =
    world.capture === 'due' && rules.captures(world.payment)
      ? [{ ...world, capture: 'requested', bank: world.bank === 'authorised' ? 'captured' : world.bank }]
      : [];
  return [...captured, ...(world.release === 'requested' && world.payment === 'failed' ? [cancel(world)] : [])];
}

/**
 * The acquirer cancels what is authorised under the payment's reference, and reports it. It refuses to cancel a charge
 * that the issuer declined, and does not report such a charge as not found.
 */
function cancel(world: ReportedWorld): ReportedWorld {
  if (world.bank === 'declined') return world;
  const isFound = world.bank === 'authorised' || world.bank === 'cancelled';
  return isFound
    ? { ...world, bank: 'cancelled', cancelReport: 'reversed' }
    : { ...world, cancelReport: world.cancelReport === 'reversed' ? 'reversed' : 'notFound' };
}

function reportSteps(world: ReportedWorld, rules: ReportedRules): ReportedWorld[] {
  const { chargeReports, bank, cancelReport } = world;
  const sends = (chargeReports - 1) as Sends;
  const ofCharge =
    chargeReports > 0 && bank !== 'none'
      ? [reportCharge({ ...world, chargeReports: sends }, DECISIONS[bank], rules)]
      : [];
  if (chargeReports === 2) ofCharge.push({ ...world, chargeReports: 0, isReportLost: true });
  const confirmed = { ...world, cancelReport: 'none' } as const;
  if (cancelReport === 'reversed') {
    const row = world.row === 'reversed' ? world.row : changeRow(world, 'reversed').row;
    return [...ofCharge, { ...confirmed, row, release: 'reversed' }];
  }
  if (cancelReport === 'notFound')
    return [...ofCharge, endsRelease(world, rules) ? { ...confirmed, release: 'notFound' } : confirmed];
  return ofCharge;
}

function reportCharge(world: ReportedWorld, decision: 'approved' | 'declined', rules: ReportedRules): ReportedWorld {
  const settled = settle(world, decision, rules);
  const isReleaseEnded = decision === 'declined' && rules.declineEndsRelease && endsRelease(settled, rules);
  return isReleaseEnded ? { ...settled, release: 'notFound' } : settled;
}

/** Whether the report that no charge was found ends the release. */
function endsRelease({ release, isApprovalSeen }: ReportedWorld, rules: ReportedRules): boolean {
  return release === 'requested' && !(isApprovalSeen && rules.knowsApprovals);
}

/** Records a response, a report or the decision to abandon, in one transaction. */
function settle(world: ReportedWorld, kind: AcquirerResponse['kind'], rules: ReportedRules): ReportedWorld {
  const conclusion = rules.conclude(world.row, buildResponse(kind));
  if (conclusion.kind === 'unknown') return changeRow(world, 'unknown');
  if (conclusion.kind === 'end') {
    const { state, settlement } = conclusion.end;
    if (settlement.state === 'verificationRequired') throw new Violation('the model has no verification');
    return {
      ...changeRow(world, state),
      payment: settlement.state,
      capture: state === 'approved' ? 'due' : world.capture,
      release: rules.requestsRelease(kind) ? 'requested' : world.release,
    };
  }
  if (conclusion.kind !== 'incident' || !conclusion.needsReversal) return world;
  const isRequested = world.release === 'none' || (world.release === 'notFound' && rules.requestsReleaseAgain);
  return { ...world, isApprovalSeen: true, release: isRequested ? 'requested' : world.release };
}

function changeRow(world: ReportedWorld, to: AttemptState): ReportedWorld {
  const { row } = world;
  if (row !== to && !(ATTEMPT_TRANSITIONS[row] as readonly AttemptState[]).includes(to))
    throw new Violation(`${row} → ${to} is not allowed`);
  return { ...world, row: to };
}

/** Checks the invariants of every world. */
export function checkReportedInvariants({ payment, bank }: ReportedWorld): void {
  if (bank === 'captured' && payment !== 'success') throw new Violation(`${payment}, but captured`);
  if (payment === 'success' && bank !== 'authorised' && bank !== 'captured')
    throw new Violation(`success, but ${bank} at the acquirer`);
}

/** Checks a world in which nothing more happens: the jobs have run, and the reports have arrived. */
export function checkFinalReportedInvariants({ payment, bank, ...world }: ReportedWorld): void {
  if (payment === 'processing') throw new Violation('the payment stays processing');
  if (payment === 'success' && bank !== 'captured') throw new Violation(`success, but ${bank} in the end`);
  // If all reports of a declined charge are lost, an incident tells an operator that its release is not confirmed.
  if (world.release === 'requested' && !world.isReportLost) throw new Violation('the release is requested for ever');
  // A charge that arrives after its release, and whose reports are all lost, expires at the acquirer. It takes no money.
  const isUnknowable = world.isReportLost && world.release === 'notFound';
  if (payment === 'failed' && bank === 'authorised' && !isUnknowable)
    throw new Violation('failed, but authorised in the end');
}
