import { type Alert, counterAlert, gaugeAlert } from './alert.ts';

const PROCESSOR_LOG =
  'The log of payment-processor: `kubectl logs deploy/payment-processor`, here `./svc logs payment-processor`.';

/** Alerts of payments, refunds, disputes, acquirers and the ledger. */
export const PAYMENT_ALERTS: readonly Alert[] = [
  gaugeAlert({
    name: 'SvcAcquirerCircuitOpen',
    metric: 'svc.acquirer.circuit.open',
    is: '>',
    limit: 0,
    for: '1m',
    severity: 'page',
    labels: { acquirer: 'adyen', mode: 'live' },
    runbook: {
      meaning: 'An acquirer does not respond. Its payments fail at once with error 30, and nothing is charged.',
      look: [
        'The status page of the acquirer, and `svc.acquirer.charges` by `outcome`: do all calls fail?',
        'From a pod of payment-processor: does the acquirer’s host resolve and accept TLS? If not, look at the egress rules.',
        PROCESSOR_LOG + ' The line `the acquirer does not respond: its circuit is open` has the acquirer and the mode.',
      ],
      act: [
        'The circuit closes by itself within a minute after the acquirer responds again. Nothing needs a restart.',
        'To send new live charges elsewhere: `./svc admin merchant-accounts set MERCHANT ACCOUNT --acquirer=OTHER --live`.',
      ],
    },
  }),
  gaugeAlert({
    name: 'SvcPaymentsUnresolved',
    metric: 'svc.payments.unresolved',
    is: '>',
    limit: 0,
    for: '15m',
    severity: 'page',
    runbook: {
      meaning:
        'For 15 minutes, charges have had no outcome. Their payables stay reserved, and their payers see "processing".',
      look: [
        'Is the circuit of the acquirer open, or do its queries fail? `svc.payments.unknown` by acquirer.',
        PROCESSOR_LOG,
      ],
      act: [
        'The recovery job queries after 2 s, 10 s, 1 min and 5 min, and reverses after 15 min. Let the acquirer repair its queries.',
        'If the acquirer is not configured any more, restore its settings: no other job can query it.',
      ],
    },
  }),
  counterAlert({
    name: 'SvcPaymentIncident',
    metric: 'svc.payments.incidents',
    severity: 'page',
    labels: { state: 'approved', response: 'approved' },
    runbook: {
      meaning: 'A response or a webhook of an acquirer contradicts an attempt. Money may have moved twice.',
      look: [
        'The line `the acquirer contradicts the attempt` with `paymentReference` and `attemptId`, and the table `incidents`.',
      ],
      act: [
        '`approved` for `approved`: the acquirer has authorised twice. Cancel the authorisation of the incident in the customer area. The platform captures only the other one.',
        'Otherwise compare the payment with the acquirer: `./svc admin reconcile --day YYYY-MM-DD`.',
      ],
    },
  }),
  counterAlert({
    name: 'SvcReversalUnconfirmed',
    metric: 'svc.reversals.incidents',
    severity: 'ticket',
    labels: { acquirer: 'adyen' },
    runbook: {
      meaning: 'An acquirer has not confirmed the release or the reversal of a charge for a day.',
      look: [
        'The line `the acquirer has not confirmed a reversal for a day` has the payment’s reference. Find it in the customer area.',
      ],
      act: [
        'If it is authorised, cancel it there. If its webhook is missing, let the acquirer send it again. The webhook ends the requests.',
      ],
    },
  }),
  counterAlert({
    name: 'SvcRefundIncident',
    metric: 'svc.refunds.incidents',
    severity: 'page',
    labels: { response: 'uncertain' },
    runbook: {
      meaning: 'A response contradicts a refund, or no request can decide it (`uncertain`).',
      look: ['`./svc admin refunds list`, and the refund’s id as merchant reference in the acquirer’s customer area.'],
      act: [
        'If it is there, let the acquirer send its webhook again. If not, refund there by hand with this reference. The webhook ends the refund.',
      ],
    },
  }),
  counterAlert({
    name: 'SvcCaptureIncident',
    metric: 'svc.captures.incidents',
    severity: 'page',
    labels: { response: 'captureRejected' },
    runbook: {
      meaning:
        'An approved charge is not captured: the acquirer rejects the capture, or has reported no outcome for a day.',
      look: [
        'The line `a charge is approved and not captured` with its `response`. For `captureRejected` the log has the error code.',
      ],
      act: [
        '`captureRejected`: repair the setting within 24 hours of the charge. The platform tries again each hour.',
        '`captureUnconfirmed`: let the acquirer send the webhook `CAPTURE` again.',
      ],
    },
  }),
  counterAlert({
    name: 'SvcCaptureFailed',
    metric: 'svc.captures.failed',
    severity: 'page',
    labels: { acquirer: 'adyen', failure: 'rejected' },
    runbook: {
      meaning:
        'The money of an approved charge could not be taken. The payment is booked back, and the merchant was notified.',
      look: [
        'The line `a capture failed, the payment is booked back`, and the payment in the acquirer’s customer area.',
      ],
      act: [
        'Tell the merchant that the order is not paid. If several fail, repair the account’s setting before more expire.',
      ],
    },
  }),
  counterAlert({
    name: 'SvcAcquirerReportIncident',
    metric: 'svc.acquirer.reports',
    where: { effect: 'incident' },
    severity: 'page',
    labels: { acquirer: 'adyen' },
    runbook: {
      meaning: 'A webhook of an acquirer contradicts a payment, or names the other mode.',
      look: ['The line `a report of an acquirer is an incident` with its note, and the table `acquirer_reports`.'],
      act: [
        'Compare the payment with the acquirer. A webhook of the other mode: its endpoint is configured in the wrong account.',
      ],
    },
  }),
  counterAlert({
    name: 'SvcAcquirerNotificationsRefused',
    metric: 'svc.acquirer.notifications.refused',
    perHour: 5,
    severity: 'page',
    labels: { acquirer: 'adyen', reason: 'signature' },
    runbook: {
      meaning:
        'Webhooks of an acquirer have wrong credentials or signatures: a key was rotated on one side only, or they are forged.',
      look: ['`reason`: `credentials` or `signature`. When did the acquirer’s webhook configuration change?'],
      act: [
        'Set the key of the customer area in `SVC_ADYEN_…` and restart payment-processor. The acquirer repeats its webhooks.',
      ],
    },
  }),
  counterAlert({
    name: 'SvcDisputeIncident',
    metric: 'svc.disputes.incidents',
    severity: 'ticket',
    labels: { acquirer: 'adyen', problem: 'unknownCharge' },
    runbook: {
      meaning: 'An acquirer has sent an impossible report about a dispute. It booked nothing.',
      look: ['`./svc admin disputes incidents`.'],
      act: ['Ask the acquirer with the reference of the report.'],
    },
  }),
  gaugeAlert({
    name: 'SvcDisputeDeadline',
    metric: 'svc.disputes.nearest.deadline',
    is: '<',
    limit: 172_800,
    severity: 'ticket',
    labels: { mode: 'live', stage: 'opened' },
    runbook: {
      meaning: 'A merchant must respond to a dispute within two days, in the acquirer’s customer area.',
      look: ['`./svc admin disputes list`.'],
      act: ['Tell the merchant the deadline, and the reason of the dispute.'],
    },
  }),
  gaugeAlert({
    name: 'SvcReconciliationDiffers',
    metric: 'svc.reconciliation.differences',
    is: '>',
    limit: 0,
    for: '0m',
    severity: 'page',
    runbook: {
      meaning: 'Payments and their copies in other books differ.',
      look: [
        '`./svc admin reconcile --day YYYY-MM-DD` lists the rows; [reconciliation.md](reconciliation.md) explains each difference.',
      ],
      act: ['Repair the book that is wrong, and reconcile the day again: `./svc admin reconcile --day YYYY-MM-DD`.'],
    },
  }),
  gaugeAlert({
    name: 'SvcReconciliationFailed',
    metric: 'svc.reconciliation.failed',
    is: '>',
    limit: 0,
    for: '0m',
    severity: 'ticket',
    runbook: {
      meaning: 'The last nightly reconciliation could not compare a day.',
      look: ['The line `reconciliation: failed` of payment-processor at 00:30 UTC, with its error.'],
      act: ['When the cause is gone: `./svc admin reconcile --day YYYY-MM-DD`.'],
    },
  }),
  gaugeAlert({
    name: 'SvcReconciliationLate',
    metric: 'svc.reconciliation.age',
    is: '>',
    limit: 100_000,
    severity: 'ticket',
    runbook: {
      meaning: 'The last successful nightly reconciliation is more than a day ago.',
      look: ['Did payment-processor run at 00:30 UTC? Its log has `reconciliation: failed`, or nothing.'],
      act: ['`./svc admin reconcile --day YYYY-MM-DD` for each missing day.'],
    },
  }),
  gaugeAlert({
    name: 'SvcLedgerUnsealed',
    metric: 'svc.ledger.unsealed.age',
    is: '>',
    limit: 60,
    severity: 'ticket',
    runbook: {
      meaning: 'Transfers are not sealed: an older transaction blocks them. Payments work, and nothing is lost.',
      look: [
        '`SELECT pid, usename, datname, state, xact_start, query FROM pg_stat_activity WHERE backend_xid IS NOT NULL ORDER BY age(backend_xid) DESC;`',
        '`SELECT gid, owner, database FROM pg_prepared_xacts ORDER BY prepared;`',
      ],
      act: [
        'End an abandoned transaction with `SELECT pg_terminate_backend(pid);`, a statement with `pg_cancel_backend(pid)`.',
        'One whole day of age: the database was restored from a dump. See "The ledger was changed" in [operations.md](operations.md).',
      ],
    },
  }),
  gaugeAlert({
    name: 'SvcSettlementReportUnread',
    metric: 'svc.settlement.reports.waiting.age',
    is: '>',
    limit: 7_200,
    severity: 'ticket',
    labels: { acquirer: 'adyen', mode: 'live' },
    runbook: {
      meaning: 'An announced settlement report of an acquirer could not be read for two hours.',
      look: ['`./svc admin settlement-reports list`: the note of the report that is `waiting`.'],
      act: [
        'Status 401: check `SVC_ADYEN_…_REPORT_USER` and `…_REPORT_PASSWORD`. A missing column: add it in the customer area. It is read again each hour.',
      ],
    },
  }),
  gaugeAlert({
    name: 'SvcSettlementReportMissing',
    metric: 'svc.settlement.reports.age',
    is: '>',
    limit: 432_000,
    severity: 'ticket',
    labels: { acquirer: 'adyen', mode: 'live' },
    runbook: {
      meaning: 'An account with captures has announced no settlement report for five days.',
      look: ['The customer area: is the settlement details report generated for each batch, and are payouts daily?'],
      act: ['Enable the report and the webhook `REPORT_AVAILABLE`, and let the acquirer send it again.'],
    },
  }),
  gaugeAlert({
    name: 'SvcSettlementLinesUnmatched',
    metric: 'svc.settlement.lines.unmatched',
    is: '>',
    limit: 0,
    for: '1h',
    severity: 'ticket',
    labels: { acquirer: 'adyen', mode: 'live' },
    runbook: {
      meaning: 'The acquirer has settled something that this platform has not booked.',
      look: ['`./svc admin settlement-reports unmatched`: the problem of each line, and the payment with its `svcId`.'],
      act: [
        'Ask the acquirer with the line’s reference. After a missing webhook has arrived, the line matches with the next reconciliation.',
      ],
    },
  }),
  gaugeAlert({
    name: 'SvcSiteAttacked',
    metric: 'svc.velocity.sites.attacked',
    is: '>',
    limit: 0,
    for: '0m',
    severity: 'page',
    labels: { mode: 'live' },
    runbook: {
      meaning:
        'Stolen cards are being tested at a site. The platform shows challenges and refuses addresses by itself.',
      look: [
        'The line `stolen cards are being tested at a site` has the site. `./svc admin fraud show --site SITE --live`.',
        '`svc.velocity.refusals` by `limit`, and `svc.challenges` by `outcome`: can honest payers still pay?',
      ],
      act: [
        'Ask the merchant whether the site runs a sale: then `./svc admin fraud release --site SITE --live`.',
        'If a range or an address stands out: `./svc admin fraud block UNTIL --range RANGE --site SITE --live`.',
      ],
    },
  }),
];
