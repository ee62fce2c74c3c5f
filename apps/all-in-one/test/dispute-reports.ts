import { findProvider, type MainApi } from './main-api.js';

/** A report of the simulated bank about a dispute, see `DisputeReport` of payment-processor. */
interface TestDisputeReport {
  readonly paymentReference: string;
  readonly disputeReference: string;
  readonly kind: 'opened' | 'debited' | 'reversed' | 'debitedAgain';
  /** Cents. */
  readonly amount: number;
  readonly respondBy?: Date;
}

/** A provider of payment-processor, by the name of its class, because apps do not import each other. */
export function getProcessorProvider(api: MainApi, providerName: string): unknown {
  return findProvider(api, 'payment-processor', providerName);
}

/** Applies a report about a test payment. Returns its reference. */
export async function reportDispute(api: MainApi, report: TestDisputeReport): Promise<string> {
  const applyReport = getProcessorProvider(api, 'ApplyDisputeReport') as {
    execute(report: object): Promise<{ problems: readonly string[] }>;
  };
  const { paymentReference, disputeReference, kind, amount, respondBy } = report;
  const reportReference = `${kind}/${disputeReference}`;
  const { problems } = await applyReport.execute({
    ...{ acquirer: 'simulated', mode: 'test', reportReference, disputeReference, kind, amount, respondBy },
    ...{ charge: { paymentReference }, currencyISOCode: 'ZAR' },
    reason: { code: '10.4', text: 'Other Fraud-Card Absent Environment' },
    occurredAt: api.clock.now(),
  });
  if (problems.length > 0) throw new Error(`The report of the dispute is impossible: ${problems.join()}`);
  return reportReference;
}
