import type { TimelineStep } from '@svc/contracts';
import { describeStep } from '@svc/kernel';
import type {
  AttemptRecord,
  DisputeReportRecord,
  IncidentRecord,
  PaymentRecords,
  RefundRecord,
  SettlementLineRecord,
} from './payment-records.query.js';

/** All that happened to a payment, oldest first. */
export function describeRecords(records: PaymentRecords): TimelineStep[] {
  const steps = [
    describeAcceptance(records),
    ...records.attempts.flatMap((attempt) => [
      ...describeAttempt(attempt, records.payment),
      ...describeCapture(attempt),
      ...describeReversal(attempt),
    ]),
    ...describeOutcome(records),
    ...records.incidents.map(describeIncident),
    ...records.refunds.flatMap(describeRefund),
    ...records.disputeReports.map(describeDisputeReport),
    ...records.settlementLines.map(describeSettlementLine),
  ];
  // The sort is stable: of steps at the same time, the call comes before its answer.
  return steps.sort((a, b) => a.utcDate.localeCompare(b.utcDate));
}

function describeAcceptance({ payment }: PaymentRecords): TimelineStep {
  return describeStep(
    payment.acceptedAt,
    'payment accepted',
    {
      method: payment.methodLabel,
      'made by': payment.isOfPartner ? 'an app of a partner' : 'the payer on our page',
      'site or till': payment.siteReference,
    },
    { amount: payment.amount },
  );
}

function describeAttempt(
  attempt: AttemptRecord,
  { challengeReference, verificationExpiresAt }: PaymentRecords['payment'],
): TimelineStep[] {
  const { acquirer, account, attemptId, state, acquirerReference, startedAt, endedAt, queries, nextQueryAt } = attempt;
  const call = describeStep(
    startedAt,
    'acquirer called',
    {
      ...{ acquirer, account, 'idempotency key': attemptId, queries },
      ...(endedAt ? {} : { state, 'next query': nextQueryAt?.toISOString() }),
    },
    { traceId: attempt.traceId, ...(endedAt ? {} : { isOpen: true }) },
  );
  if (!endedAt) return [call];
  const isChallenge =
    state === 'notAttempted' && acquirerReference !== null && acquirerReference === challengeReference;
  return [
    call,
    isChallenge
      ? describeStep(endedAt, 'bank asks the payer for a confirmation', {
          ...{ acquirer, reference: acquirerReference, until: verificationExpiresAt?.toISOString() },
        })
      : describeStep(endedAt, ATTEMPT_ENDS[state] ?? state, {
          acquirer,
          reference: acquirerReference,
          code: attempt.acquirerCode,
        }),
  ];
}

const ATTEMPT_ENDS: Readonly<Record<string, string>> = {
  approved: 'acquirer approved',
  declined: 'acquirer declined',
  notAttempted: 'acquirer took no money',
  reversed: 'acquirer reversed the charge',
};

function describeCapture(attempt: AttemptRecord): TimelineStep[] {
  const { captureState, captureAmount, captureCreatedAt, captureEndedAt, capturedAt } = attempt;
  if (captureState === null || captureAmount === null || !captureCreatedAt) return [];
  const facts = { acquirer: attempt.acquirer, reference: attempt.captureReference, requests: attempt.captureRequests };
  const amount = { amount: captureAmount };
  if (!captureEndedAt)
    return [
      describeStep(
        captureCreatedAt,
        'capture requested',
        { ...facts, state: captureState },
        { ...amount, isOpen: true },
      ),
    ];
  return [
    ...(capturedAt ? [describeStep(capturedAt, 'capture confirmed', facts, amount)] : []),
    ...(captureState === 'failed'
      ? [describeStep(captureEndedAt, 'capture failed', { ...facts, reason: attempt.captureFailure }, amount)]
      : []),
  ];
}

function describeReversal(attempt: AttemptRecord): TimelineStep[] {
  const { acquirer, reversalRequestedAt, reversalConfirmedAt, foundCharge } = attempt;
  if (!reversalRequestedAt) return [];
  return [
    describeStep(reversalRequestedAt, 'reversal requested', { acquirer }, reversalConfirmedAt ? {} : { isOpen: true }),
    ...(reversalConfirmedAt
      ? [
          describeStep(reversalConfirmedAt, 'reversal confirmed', {
            ...{ acquirer, found: foundCharge === true ? 'a charge, which is returned' : 'no charge' },
          }),
        ]
      : []),
  ];
}

/** None while the payment waits for the payer or the acquirer: the step of the attempt is open then. */
function describeOutcome({ payment }: PaymentRecords): TimelineStep[] {
  const { state, modifiedAt, processedAmount, errors } = payment;
  if (state !== 'success' && state !== 'failed') return [];
  const facts = { errors: errors.map(({ message, errorReference }) => `${message} (${errorReference})`).join(' ') };
  return [
    state === 'success'
      ? describeStep(modifiedAt, 'payment succeeded', facts, { amount: processedAmount })
      : describeStep(modifiedAt, 'payment failed', facts),
  ];
}

function describeIncident(incident: IncidentRecord): TimelineStep {
  const { subject, subjectState, response, acquirerReference, firstSeenAt, lastSeenAt, occurrences } = incident;
  return describeStep(firstSeenAt, `incident: the acquirer contradicts the ${subject}`, {
    ...{ [`${subject} was`]: subjectState, response, reference: acquirerReference, occurrences },
    'last seen': lastSeenAt.toISOString(),
  });
}

function describeRefund(refund: RefundRecord): TimelineStep[] {
  const { refundId, amount, endedAt, returnedAt, uncertainSince, acquirerReference } = refund;
  // A refund whose money came back is failed now, and had succeeded.
  const end = refund.state === 'succeeded' || returnedAt ? 'refund succeeded' : 'refund failed';
  const facts = { refund: refundId, reference: acquirerReference };
  return [
    describeStep(
      refund.createdAt,
      'refund requested',
      {
        ...{ refund: refundId, reason: refund.reason, 'requested by': refund.requestedBy, queries: refund.queries },
        ...(endedAt ? {} : { 'next query': refund.nextQueryAt?.toISOString() }),
      },
      { amount, ...(endedAt ? {} : { isOpen: true }) },
    ),
    ...(uncertainSince && !endedAt
      ? [
          describeStep(uncertainSince, 'refund uncertain: only a report of the acquirer ends it', facts, {
            isOpen: true,
          }),
        ]
      : []),
    ...(endedAt ? [describeStep(endedAt, end, facts, { amount })] : []),
    ...(returnedAt ? [describeStep(returnedAt, 'refund returned: the money came back', facts, { amount })] : []),
  ];
}

function describeDisputeReport(report: DisputeReportRecord): TimelineStep {
  return describeStep(
    report.receivedAt,
    `dispute ${report.kind}`,
    {
      ...{ dispute: report.disputeReference, acquirer: report.acquirer, reference: report.acquirerReference },
      ...{ reason: report.reason, occurred: report.occurredAt.toISOString() },
      'respond by': report.respondBy?.toISOString(),
    },
    { amount: report.amount },
  );
}

function describeSettlementLine(line: SettlementLineRecord): TimelineStep {
  const { acquirer, account, batch, lineNumber, netAmount, feeAmount, problem, isMatched } = line;
  return describeStep(
    line.storedAt,
    `settlement of the ${line.kind}`,
    {
      ...{
        acquirer,
        account,
        batch,
        line: lineNumber,
        type: line.type,
        'net cents': netAmount,
        'fee cents': feeAmount,
      },
      ...{ problem, agrees: isMatched ? 'yes' : 'no' },
    },
    line.grossAmount === null ? {} : { amount: line.grossAmount },
  );
}
