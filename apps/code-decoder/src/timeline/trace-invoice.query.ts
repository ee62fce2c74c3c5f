import type { Mode, PayableState, TracedPayable, TracePayable } from '@svc/contracts';
import { describeStep, isUuid } from '@svc/kernel';
import type { DataSource } from 'typeorm';

interface InvoiceRow {
  readonly invoiceId: string;
  readonly code: string;
  readonly mode: Mode;
  readonly merchantId: number;
  readonly siteId: number;
  readonly siteReference: string;
  readonly externalReference: string | null;
  readonly amount: number;
  readonly currencyISOCode: string;
  readonly origin: string;
  readonly originReference: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly payableState: PayableState;
  readonly closedAt: Date | null;
  readonly requestedBy: string | null;
  readonly cancelledBy: string | null;
}

const SELECT = `
  SELECT invoice_id AS "invoiceId", code, mode, merchant_id AS "merchantId", site_id AS "siteId",
         site_reference AS "siteReference", external_reference AS "externalReference", amount, currency AS "currencyISOCode",
         origin, origin_reference AS "originReference", created_at AS "createdAt", expires_at AS "expiresAt",
         payable_state AS "payableState", closed_at AS "closedAt", requested_by AS "requestedBy", cancelled_by AS "cancelledBy"
    FROM invoices`;
const FIND_BY_ID = `${SELECT} WHERE invoice_id = $1`;
const FIND_BY_CODE = `${SELECT} WHERE code = $1`;

/** The invoice of any merchant with this id or code, for operators. */
export async function traceInvoice(
  dataSource: Pick<DataSource, 'query'>,
  now: Date,
  { payableId, code }: TracePayable,
): Promise<TracedPayable | undefined> {
  const isById = isUuid(payableId);
  if (!isById && code === undefined) return undefined;
  const [invoice] = await dataSource.query<InvoiceRow[]>(isById ? FIND_BY_ID : FIND_BY_CODE, [
    isById ? payableId : code,
  ]);
  return invoice && describeInvoice(invoice, now);
}

function describeInvoice(invoice: InvoiceRow, now: Date): TracedPayable {
  const { invoiceId, code, mode, merchantId, siteId, amount, currencyISOCode, createdAt, expiresAt, closedAt } =
    invoice;
  const isExpired = invoice.payableState === 'open' && now >= expiresAt;
  const state = isExpired ? 'expired' : invoice.payableState;
  const created = describeStep(
    createdAt,
    invoice.requestedBy === null ? 'invoice created' : 'payment request created',
    {
      ...{
        'external reference': invoice.externalReference,
        invoice: invoiceId,
        code,
        till: invoice.siteReference,
        state,
      },
      ...{ origin: invoice.origin, 'origin reference': invoice.originReference, 'requested by': invoice.requestedBy },
    },
    { amount },
  );
  const end = closedAt ?? (isExpired ? expiresAt : undefined);
  return {
    subject: {
      ...{ kind: 'invoice', reference: invoiceId, utcDate: createdAt.toISOString(), mode, merchantId, siteId, amount },
      ...{ currencyISOCode, state, orderReference: invoice.externalReference ?? '', payableId: invoiceId },
      ...{ source: 'invoice', code },
    },
    steps: [created, ...(end ? [describeStep(end, `invoice ${state}`, { 'cancelled by': invoice.cancelledBy })] : [])],
  };
}
