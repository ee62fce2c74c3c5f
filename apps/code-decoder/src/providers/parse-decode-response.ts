import {
  type DecodeResponse,
  type Invoice,
  isAmountInCents,
  isQuantity,
  isText,
  isUnitPrice,
  isUtcDate,
  type LineItem,
  MAX_IDENTIFIER_LENGTH,
  MAX_LINE_ITEMS,
  MAX_PRODUCT_NAME_LENGTH,
  type Merchant,
  type MerchantFeatures,
  toLabel,
} from '@svc/contracts';
import { currencySymbol } from '../merchants/currency-symbol.js';

/** Limit of categories for one line item. It is higher than the limit for invoices of this platform's tills. */
const MAX_CATEGORIES = 50;

/** The response of a provider is invalid. The message contains the name of the member, never its value. */
export class InvalidResponseError extends Error {
  override readonly name = 'InvalidResponseError';
}

/**
 * Validates the JSON of a provider, which is untrusted input. Required members must be present, and all members must
 * have the type of the specification. Optional members that are null, and unknown members, are removed. Throws
 * {@link InvalidResponseError}.
 */
export function parseDecodeResponse(value: unknown): DecodeResponse {
  const { merchant, invoice } = requireObject(value, 'response');
  return {
    merchant: readMerchant(requireObject(merchant, 'merchant')),
    invoice: readInvoice(requireObject(invoice, 'invoice')),
  };
}

type Members = Record<string, unknown>;

function readMerchant(members: Members): Merchant {
  const currencyISOCode = readCurrency(members, 'merchant');
  return {
    merchantReference: readRequired(members, 'merchantReference', isIdentifier),
    merchantName: readRequired(members, 'merchantName', isName, toLabel),
    currencyISOCode,
    currencySymbol: readOptional(members, 'currencySymbol', isIdentifier) ?? currencySymbol(currencyISOCode),
    features: readFeatures(requireObject(members['features'] ?? {}, 'features')),
  };
}

function readFeatures(members: Members): MerchantFeatures {
  const readFeature = (name: string): Members | undefined =>
    isAbsent(members[name]) ? undefined : requireObject(members[name], `features.${name}`);
  const [amount, orderReference, tip] = [readFeature('amount'), readFeature('orderReference'), readFeature('tip')];
  return omitUndefined({
    amount: amount && omitUndefined({ editable: readOptional(amount, 'editable', isBoolean) }),
    orderReference:
      orderReference &&
      omitUndefined({
        label: readOptional(orderReference, 'label', isName, toLabel),
        editable: readOptional(orderReference, 'editable', isBoolean),
        required: readOptional(orderReference, 'required', isBoolean),
      }),
    tip: tip && omitUndefined({ enabled: readOptional(tip, 'enabled', isBoolean) }),
  });
}

function readInvoice(members: Members): Invoice {
  return {
    siteReference: readRequired(members, 'siteReference', isIdentifier),
    currencyISOCode: readCurrency(members, 'invoice'),
    amount: readRequired(members, 'amount', isAmountInCents),
    ...omitUndefined({ lineItems: readOptional(members, 'lineItems', isListOf(MAX_LINE_ITEMS))?.map(readLineItem) }),
    createdUTCDate: new Date(readRequired(members, 'createdUTCDate', isUtcDate)).toISOString(),
    ...omitUndefined({
      origin: readOptional(members, 'origin', isIdentifier, toLabel),
      originReference: readOptional(members, 'originReference', isIdentifier),
      invoiceReference: readOptional(members, 'invoiceReference', isIdentifier),
      orderReference: readOptional(members, 'orderReference', isIdentifier),
      state: readOptional(members, 'state', isState),
    }),
  };
}

function readLineItem(value: unknown): LineItem {
  const members = requireObject(value, 'lineItems');
  const [productCode, sku] = [
    readOptional(members, 'productCode', isIdentifier),
    readOptional(members, 'sku', isIdentifier),
  ];
  if (productCode === undefined && sku === undefined) throw new InvalidResponseError('A line item has no code.');
  const categories = readOptional(members, 'categories', isListOf(MAX_CATEGORIES), toLabel);
  if (categories?.some((category) => !isIdentifier(category)))
    throw new InvalidResponseError('categories is not valid.');
  return {
    ...omitUndefined({ name: readOptional(members, 'name', isName, toLabel), productCode, sku }),
    unitPrice: String(Number(readRequired(members, 'unitPrice', isUnitPrice))),
    ...omitUndefined({
      categories: categories as string[] | undefined,
      quantity: readOptional(members, 'quantity', isQuantity),
    }),
  };
}

function readCurrency(members: Members, parent: string): string {
  const code = readRequired(members, 'currencyISOCode', (value): value is string => typeof value === 'string');
  if (!/^[A-Z]{3}$/.test(code)) throw new InvalidResponseError(`${parent}.currencyISOCode is not valid.`);
  return code;
}

/** @param convert `toLabel` for text that is only shown: a control character in it must not stop a payment */
function readRequired<T>(
  members: Members,
  name: string,
  isValid: (value: unknown) => value is T,
  convert: (value: unknown) => unknown = (value) => value,
): T {
  const value = convert(members[name]);
  if (!isValid(value)) throw new InvalidResponseError(`${name} is not valid.`);
  return value;
}

function readOptional<T>(
  members: Members,
  name: string,
  isValid: (value: unknown) => value is T,
  convert?: (value: unknown) => unknown,
): T | undefined {
  return isAbsent(members[name]) ? undefined : readRequired(members, name, isValid, convert);
}

function requireObject(value: unknown, name: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidResponseError(`${name} is not an object.`);
  return value as Members;
}

type WithoutUndefined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/** Copies the object without members that are undefined. */
function omitUndefined<T extends object>(members: T): WithoutUndefined<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as WithoutUndefined<T>;
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null;
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isState = (value: unknown): value is 'open' | 'closed' => value === 'open' || value === 'closed';
const isIdentifier = (value: unknown): value is string => isText(value, MAX_IDENTIFIER_LENGTH);
const isName = (value: unknown): value is string => isText(value, MAX_PRODUCT_NAME_LENGTH);
const isListOf =
  (max: number) =>
  (value: unknown): value is unknown[] =>
    Array.isArray(value) && value.length <= max;
