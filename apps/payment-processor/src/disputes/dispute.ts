import { type DisputeStage, toLabel } from '@svc/contracts';
import type { DisputeReport, DisputeReportKind } from '../acquirers/dispute-report.js';

/** Maximum length of the reason of a dispute, in characters. */
export const MAX_DISPUTE_REASON_LENGTH = 200;
/** Limit of recorded reports of one dispute. The first report of each kind is always recorded. */
export const MAX_REPORTS = 100;

/** A report that is recorded for a dispute. */
export interface RecordedReport extends Pick<
  DisputeReport,
  'reportReference' | 'kind' | 'amount' | 'respondBy' | 'occurredAt'
> {
  /** Plain text, at most {@link MAX_DISPUTE_REASON_LENGTH} characters; may be empty. */
  readonly reason: string;
}

/** The fields of a dispute that its merchant sees, computed from the recorded reports. */
export interface DisputeState {
  readonly stage: DisputeStage;
  /** Disputed amount in cents. */
  readonly amount: number;
  readonly reason: string;
  readonly respondBy: Date | undefined;
}

/** The charge that a report is about. */
export interface DisputableCharge {
  /** False if the acquirer has not approved the charge, or if the charge was reversed. */
  readonly isApproved: boolean;
  readonly acquirerReference: string | undefined;
  /** Cents that the acquirer charged. Refunds do not reduce it: a payer can dispute an amount that was refunded. */
  readonly amount: number;
  readonly currencyISOCode: string;
}

/** The reason why a report is an incident. */
export type DisputeProblem =
  /** A reference is too long, or the amount or a date is invalid. */
  | 'invalidReport'
  /** The acquirer has no such charge here. */
  | 'unknownCharge'
  /** The charge has another reference at the acquirer than the report. */
  | 'otherCharge'
  /** The charge was not approved, or was reversed, so that its merchant has no money of it. */
  | 'notCharged'
  | 'otherCurrency'
  /** The report's amount is higher than the charge. */
  | 'amountExceedsCharge'
  /** The dispute is about another charge. */
  | 'disputeOfOtherCharge'
  /** Another dispute has a report with this reference. */
  | 'reportOfOtherDispute'
  /** Another report has already moved this money. */
  | 'repeatedMovement'
  /** The movement is higher than the movement that it takes back. */
  | 'exceedsPreviousMovement'
  | 'tooManyReports';

/** The effect of a report on a dispute. */
export type ReportConclusion =
  /** The report was recorded before. */
  | { readonly kind: 'none' }
  /** The report is not recorded. */
  | { readonly kind: 'incident'; readonly problem: DisputeProblem }
  | {
      readonly kind: 'record';
      readonly report: RecordedReport;
      readonly state: DisputeState;
      /** False if the report changes nothing that the merchant sees. */
      readonly isChange: boolean;
      /** Movements of money that this report makes possible, in their order: its own, and movements that waited for it. */
      readonly movements: readonly RecordedReport[];
      /** Recorded movements that have become impossible. They are never booked. */
      readonly impossible: readonly RecordedReport[];
    };

/** Finds the reason why a report cannot be about this charge. It does not depend on earlier reports. */
export function findChargeProblem(
  charge: DisputableCharge | undefined,
  report: Pick<DisputeReport, 'charge' | 'amount' | 'currencyISOCode'>,
): DisputeProblem | undefined {
  if (!charge) return 'unknownCharge';
  const { acquirerReference } = report.charge;
  if (acquirerReference !== undefined && acquirerReference !== charge.acquirerReference) return 'otherCharge';
  if (!charge.isApproved) return 'notCharged';
  if (report.currencyISOCode !== charge.currencyISOCode) return 'otherCurrency';
  return report.amount > charge.amount ? 'amountExceedsCharge' : undefined;
}

/**
 * Decides the effect of a report on a dispute with these recorded reports. State and movements are functions of the set
 * of recorded reports, so they do not depend on the order in which the reports arrive.
 */
export function concludeReport(recorded: readonly RecordedReport[], report: RecordedReport): ReportConclusion {
  if (recorded.some(({ reportReference }) => reportReference === report.reportReference)) return { kind: 'none' };
  const isFirstOfKind = recorded.every(({ kind }) => kind !== report.kind);
  if (!isFirstOfKind && isMovement(report)) return { kind: 'incident', problem: 'repeatedMovement' };
  if (!isFirstOfKind && recorded.length >= MAX_REPORTS) return { kind: 'incident', problem: 'tooManyReports' };
  const all = [...recorded, report];
  const [earlier, now] = [arrangeMovements(recorded), arrangeMovements(all)];
  const state = computeState(all);
  return {
    kind: 'record',
    report,
    state,
    isChange: recorded.length === 0 || !isEqualState(computeState(recorded), state),
    movements: now.due.filter((movement) => !earlier.due.includes(movement)),
    impossible: now.impossible.filter((movement) => !earlier.impossible.includes(movement)),
  };
}

/** Kinds that move money, in the order in which the acquirer moves it. Each takes back the previous movement. */
const MOVEMENTS = ['debited', 'reversed', 'debitedAgain'] as const satisfies readonly DisputeReportKind[];

function isMovement({ kind }: RecordedReport): boolean {
  return MOVEMENTS.some((movement) => movement === kind);
}

/** The movements of the reports: due to be booked, waiting for an earlier movement, or impossible. */
interface ArrangedMovements {
  readonly due: readonly RecordedReport[];
  readonly waiting: readonly RecordedReport[];
  readonly impossible: readonly RecordedReport[];
}

/**
 * A movement is due when all movements before it are due. A reversal whose chargeback is not reported yet waits: if it
 * were booked alone, the merchant would be credited with money that was never deducted.
 */
function arrangeMovements(reports: readonly RecordedReport[]): ArrangedMovements {
  const due: RecordedReport[] = [];
  const waiting: RecordedReport[] = [];
  const impossible: RecordedReport[] = [];
  MOVEMENTS.forEach((kind, nth) => {
    const movement = reports.find((report) => report.kind === kind);
    if (!movement) return;
    const previous = due.at(-1);
    if (due.length < nth) waiting.push(movement);
    else if (previous && movement.amount > previous.amount) impossible.push(movement);
    else due.push(movement);
  });
  return { due, waiting, impossible };
}

function computeState(reports: readonly RecordedReport[]): DisputeState {
  const byTime = reports.toSorted(compareReports);
  const stage = computeStage(reports, byTime);
  return {
    stage,
    amount: computeAmount(reports, byTime),
    reason: byTime.findLast(({ reason }) => reason !== '')?.reason ?? '',
    respondBy: stage === 'won' || stage === 'lost' ? undefined : computeDeadline(byTime),
  };
}

/** Kinds in the usual order. It decides between reports with the same time. */
const KIND_ORDER: readonly DisputeReportKind[] = [
  ...(['inquiry', 'opened', 'debited', 'commented', 'defended', 'defencePeriodEnded'] as const),
  ...(['reversed', 'preArbitrationOpened', 'debitedAgain', 'won', 'lost'] as const),
];

function compareReports(a: RecordedReport, b: RecordedReport): number {
  return (
    a.occurredAt.getTime() - b.occurredAt.getTime() ||
    KIND_ORDER.indexOf(a.kind) - KIND_ORDER.indexOf(b.kind) ||
    (a.reportReference < b.reportReference ? -1 : 1)
  );
}

/** Stage after each movement. */
const STAGE_OF_MOVEMENT: Readonly<Record<string, DisputeStage>> = {
  debited: 'debited',
  reversed: 'reversed',
  debitedAgain: 'debited',
};

/**
 * The newest decision is the stage, unless the money moved against it afterwards: a debit after `won`, or a reversal
 * after `lost`. Without a decision, the last movement is the stage.
 */
function computeStage(reports: readonly RecordedReport[], byTime: readonly RecordedReport[]): DisputeStage {
  const { due, waiting } = arrangeMovements(reports);
  const movement = [...due, ...waiting].at(-1);
  const movedStage = movement && STAGE_OF_MOVEMENT[movement.kind];
  const decision = byTime.findLast(({ kind }) => kind === 'won' || kind === 'lost');
  if (decision) {
    const contradiction = decision.kind === 'won' ? 'debited' : 'reversed';
    const isContradicted = movedStage === contradiction && movement!.occurredAt > decision.occurredAt;
    if (!isContradicted) return decision.kind === 'won' ? 'won' : 'lost';
  }
  if (movedStage) return movedStage;
  return reports.some(({ kind }) => kind === 'opened' || kind === 'preArbitrationOpened') ? 'opened' : 'inquiry';
}

/** Kinds that state the disputed amount; the last of them counts. */
const CLAIMS: readonly DisputeReportKind[] = ['inquiry', 'opened', 'debited', 'debitedAgain'];

/** The amount of the last claim. Until a claim is reported, the amount of the newest report. */
function computeAmount(reports: readonly RecordedReport[], byTime: readonly RecordedReport[]): number {
  const { impossible } = arrangeMovements(reports);
  const claims = CLAIMS.map((kind) =>
    byTime.findLast((report) => report.kind === kind && !impossible.includes(report)),
  );
  return (claims.findLast((claim) => claim !== undefined) ?? byTime.at(-1)!).amount;
}

/** After these reports, earlier deadlines no longer matter. */
const ENDS_OF_DEADLINE: readonly DisputeReportKind[] = ['defended', 'defencePeriodEnded', 'reversed'];

function computeDeadline(byTime: readonly RecordedReport[]): Date | undefined {
  const nth = byTime.findLastIndex(({ respondBy }) => respondBy !== undefined);
  const isOver = byTime.slice(nth + 1).some(({ kind }) => ENDS_OF_DEADLINE.includes(kind));
  return isOver ? undefined : byTime[nth]?.respondBy;
}

function isEqualState(a: DisputeState, b: DisputeState): boolean {
  return (
    a.stage === b.stage &&
    a.amount === b.amount &&
    a.reason === b.reason &&
    a.respondBy?.getTime() === b.respondBy?.getTime()
  );
}

/** The reason as one line of plain text, such as `10.4 Other Fraud-Card Absent Environment`. */
export function formatReason({ code, text }: DisputeReport['reason']): string {
  const label = toLabel([code, text].filter((part) => part !== undefined).join(' '));
  const trimmed = label.toWellFormed().replace(/ +/g, ' ').trim();
  return [...trimmed].slice(0, MAX_DISPUTE_REASON_LENGTH).join('').trim();
}
