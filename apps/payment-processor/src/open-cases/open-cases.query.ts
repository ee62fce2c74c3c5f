import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { DataSource } from 'typeorm';

/**
 * `unknownOutcome`: a charge about which the acquirer has not decided for a minute. `reversal`: a charge that the
 * acquirer has not yet confirmed to be reversed. `capture`: an approved charge that is not captured after a day, or whose
 * capture failed in the last 31 days. `incident`: a response of the acquirer that contradicts its charge.
 * `refundIncident`: one that contradicts its refund. `report`: a webhook of an acquirer that contradicts a payment.
 */
export const OPEN_CASE_KINDS = [
  'unknownOutcome',
  'reversal',
  'capture',
  'incident',
  'refundIncident',
  'report',
] as const;
export type OpenCaseKind = (typeof OPEN_CASE_KINDS)[number];

/** Something that an operator looks at, because the platform and the acquirer do not agree, or have not yet agreed. */
export interface OpenCase {
  readonly kind: OpenCaseKind;
  /** ISO 8601 UTC: since when it is open, or when it was last seen. */
  readonly sinceUTCDate: string;
  /** Reference of the payment. Null for a report of an acquirer, which may belong to no payment. */
  readonly svcId: string | null;
  readonly merchantId: number | null;
  readonly mode: Mode;
  readonly acquirer: string;
  /** The acquirer's reference of the charge, if it is known. */
  readonly acquirerReference: string | null;
  /** State of the charge, the refund or the capture; the effect of a report. */
  readonly state: string;
  /** The answer of the acquirer, or the note of a report. */
  readonly detail: string | null;
}

/** Longest list of a kind. */
const MAX_OF_KIND = 100;
/** Waiting for an acquirer is a case only after this time. All other kinds are cases at once. */
const OPEN_AFTER_MS: Readonly<Partial<Record<OpenCaseKind, number>>> = {
  unknownOutcome: 60_000,
  reversal: 60_000,
  capture: 24 * 60 * 60_000,
};
const FAILED_CAPTURE_MS = 31 * 24 * 60 * 60_000;

const OF_PAYMENT = `p.payment_reference AS "svcId", y.merchant_id AS "merchantId", y.mode, a.acquirer`;
const PAYMENT = `JOIN attempts a ON a.attempt_id = c.attempt_id JOIN payments p ON p.payment_id = a.payment_id
  JOIN payables y ON y.payable_id = p.payable_id`;

/** $1: cases since this time or earlier. $2 of `capture`: failed since this time. The partial index of reports needs its own condition. */
const STATEMENTS: Readonly<Record<OpenCaseKind, string>> = {
  unknownOutcome: `
    SELECT c.started_at AS since, ${OF_PAYMENT}, c.acquirer_reference AS "acquirerReference", c.state, c.queries || ' queries' AS detail
      FROM attempts c ${PAYMENT}
     WHERE c.next_query_at IS NOT NULL AND c.started_at < $1
     ORDER BY c.started_at LIMIT ${MAX_OF_KIND}`,
  reversal: `
    SELECT c.requested_at AS since, ${OF_PAYMENT}, a.acquirer_reference AS "acquirerReference", a.state,
           CASE WHEN c.holds_money THEN 'the acquirer holds the money' END AS detail
      FROM reversals c ${PAYMENT}
     WHERE c.next_request_at IS NOT NULL AND c.requested_at < $1
     ORDER BY c.requested_at LIMIT ${MAX_OF_KIND}`,
  capture: `
    SELECT c.created_at AS since, ${OF_PAYMENT}, c.acquirer_reference AS "acquirerReference", c.state, c.failure AS detail
      FROM (SELECT * FROM captures WHERE next_request_at IS NOT NULL AND created_at < $1
            UNION ALL
            SELECT * FROM captures WHERE state = 'failed' AND ended_at > $2) c ${PAYMENT}
     ORDER BY c.created_at DESC LIMIT ${MAX_OF_KIND}`,
  incident: `
    SELECT c.last_seen_at AS since, ${OF_PAYMENT}, c.acquirer_reference AS "acquirerReference", c.attempt_state AS state,
           c.response AS detail
      FROM (SELECT * FROM incidents WHERE last_seen_at <= $1 ORDER BY last_seen_at DESC LIMIT ${MAX_OF_KIND}) c ${PAYMENT}
     ORDER BY c.last_seen_at DESC`,
  refundIncident: `
    SELECT c.last_seen_at AS since, p.payment_reference AS "svcId", y.merchant_id AS "merchantId", y.mode, a.acquirer,
           c.acquirer_reference AS "acquirerReference", c.refund_state AS state, c.response AS detail
      FROM (SELECT * FROM refund_incidents WHERE last_seen_at <= $1 ORDER BY last_seen_at DESC LIMIT ${MAX_OF_KIND}) c
      JOIN refunds r ON r.refund_id = c.refund_id JOIN attempts a ON a.attempt_id = r.attempt_id
      JOIN payments p ON p.payment_id = r.payment_id
      JOIN payables y ON y.payable_id = p.payable_id
     ORDER BY c.last_seen_at DESC`,
  report: `
    SELECT c.received_at AS since, NULL AS "svcId", NULL AS "merchantId", c.mode, c.acquirer, NULL AS "acquirerReference",
           c.effect AS state, c.note AS detail
      FROM acquirer_reports c
     WHERE c.effect IN ('incident', 'ignored') AND c.effect = 'incident' AND c.received_at <= $1
     ORDER BY c.received_at DESC LIMIT ${MAX_OF_KIND}`,
};

type Row = Omit<OpenCase, 'kind' | 'sinceUTCDate'> & { readonly since: Date };

@Injectable()
export class OpenCasesQuery {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** At most 100 cases of each kind. */
  async list(kinds: readonly OpenCaseKind[]): Promise<OpenCase[]> {
    const lists = await Promise.all(kinds.map((kind) => this.listKind(kind)));
    return lists.flat();
  }

  private async listKind(kind: OpenCaseKind): Promise<OpenCase[]> {
    const now = this.clock.now().getTime();
    const parameters = [new Date(now - (OPEN_AFTER_MS[kind] ?? 0))];
    if (kind === 'capture') parameters.push(new Date(now - FAILED_CAPTURE_MS));
    const rows = await this.dataSource.query<Row[]>(STATEMENTS[kind], parameters);
    return rows.map(({ since, ...row }) => ({ kind, sinceUTCDate: since.toISOString(), ...row }));
  }
}
