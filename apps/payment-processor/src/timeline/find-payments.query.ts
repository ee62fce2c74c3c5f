import type { FindPayments, TimelineSubject } from '@svc/contracts';
import { isUuid } from '@svc/kernel';
import { isoTime } from '@svc/messaging';
import type { DataSource } from 'typeorm';

const SELECT = `
  SELECT 'payment' AS kind, p.payment_reference AS reference, ${isoTime('p.accepted_at')} AS "utcDate", y.mode,
         y.merchant_id AS "merchantId", y.site_id AS "siteId", p.amount + p.tip_amount AS amount,
         y.currency AS "currencyISOCode", p.state, y.payable_id AS "payableId", y.source ->> 'kind' AS source,
         coalesce(y.source ->> 'merchantOrderId', y.source ->> 'externalReference', '') AS "orderReference",
         coalesce(y.source ->> 'code', '') AS code
    FROM payments p JOIN payables y ON y.payable_id = p.payable_id`;
const NEWEST = 'ORDER BY p.accepted_at DESC LIMIT 20';
const FIND_BY_REFERENCE = `${SELECT} WHERE p.payment_reference = $1`;
const FIND_OF_PAYABLE = `${SELECT} WHERE p.payable_id = $1 ${NEWEST}`;
const FIND_BY_CODE = `${SELECT} WHERE y.source ->> 'code' = $1 ${NEWEST}`;

/** Payments of any merchant, for operators. Unlike read models, this finds payments without an outcome too. */
export async function findPayments(
  dataSource: Pick<DataSource, 'query'>,
  { paymentReference, payableId, code }: FindPayments,
): Promise<TimelineSubject[]> {
  if (paymentReference !== undefined) return dataSource.query(FIND_BY_REFERENCE, [paymentReference]);
  if (isUuid(payableId)) return dataSource.query(FIND_OF_PAYABLE, [payableId]);
  return code === undefined ? [] : dataSource.query(FIND_BY_CODE, [code]);
}
