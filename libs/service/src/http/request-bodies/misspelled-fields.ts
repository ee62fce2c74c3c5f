import { getMetadataStorage } from 'class-validator';
import leven from 'leven';

/**
 * Finds fields of a request that look like a mistyped name of a known field. Unknown fields are ignored (C5), so without
 * a hint a client that sends `order_id` or `currency` does not learn why its value has no effect.
 */
export interface MisspelledField {
  /** Name that was sent. */
  readonly field: string;
  /** Name of the known field. */
  readonly meant: string;
}

/** A longer name is not compared. The names of this platform's fields have at most 25 characters. */
const MAX_NAME_LENGTH = 40;
/** At most this number of misspelled fields of one object is returned. */
const MAX_MISSPELLED_FIELDS = 10;

/** Names that other payment APIs use for the same field, in lower case without separators. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  requestId: ['idempotencykey', 'requestreference'],
  merchantOrderId: ['orderid', 'ordernumber', 'orderreference', 'orderref', 'merchantreference', 'reference'],
  amount: ['total', 'totalamount', 'amountincents', 'amountcents', 'price'],
  currencyISOCode: ['currency', 'currencycode', 'currencyiso'],
  notificationUrl: ['notifyurl', 'webhookurl', 'webhook', 'callbackurl', 'callback', 'ipnurl'],
  returnUrl: ['successurl', 'redirecturl', 'returnuri'],
  cancelUrl: ['cancelledurl', 'canceledurl', 'failureurl', 'backurl'],
  siteName: ['shopname', 'storename'],
  customFields: ['metadata', 'customdata', 'extrafields'],
  taxAmount: ['tax', 'vat', 'taxes'],
  shippingAmount: ['shipping', 'shippingcost', 'delivery', 'deliveryfee'],
  locale: ['language', 'lang', 'culture'],
  lineItems: ['items', 'lines', 'products', 'basket'],
  externalReference: ['reference', 'orderid', 'merchantorderid', 'invoicenumber'],
  siteReference: ['tillid', 'till', 'terminalid'],
  tipAmount: ['tip', 'gratuity'],
};

/** The unknown fields of `body` that look like a field of the class `type`, in the order of the body. */
export function findMisspelledFields(type: new (...args: never[]) => object, body: unknown): MisspelledField[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return [];
  const fields = findFieldNames(type);
  return Object.keys(body)
    .filter((name) => !fields.includes(name))
    .flatMap((field) => {
      const meant = findSimilarField(field, fields);
      return meant === undefined ? [] : [{ field, meant }];
    })
    .slice(0, MAX_MISSPELLED_FIELDS);
}

/** Names of the fields that the class validates. All other fields of a body are removed. */
function findFieldNames(type: new (...args: never[]) => object): string[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  return [...new Set(rules.map(({ propertyName }) => propertyName))];
}

function findSimilarField(name: string, fields: readonly string[]): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return undefined;
  const text = normaliseName(name);
  return (
    fields.find((field) => normaliseName(field) === text) ??
    fields.find((field) => SYNONYMS[field]?.includes(text)) ??
    fields.find((field) => leven(normaliseName(field), text) <= maxDistance(text))
  );
}

/** `merchant_order_id`, `Merchant-Order-ID` and `merchantOrderId` are equal. */
function normaliseName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** Number of characters that may differ. Short names differ in few characters by chance. */
function maxDistance({ length }: string): number {
  if (length < 5) return 0;
  return length < 9 ? 1 : 2;
}
