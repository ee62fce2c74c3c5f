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
} from '@svc/contracts';
import { currencySymbol } from '../merchants/currency-symbol.js';

/** Limit for one line item. A provider may send more than our own limit. */
const MAX_CATEGORIES = 50;

/** The response of a provider is invalid. The message names the member, never its value. */
export class InvalidResponseError extends Error {
  override readonly name = 'InvalidResponseError';
}

/**
 * Validates a provider's JSON, which is untrusted input, as a response of the specification: required members must be present
 * and of the right type. Optional members that are null are removed, and so are unknown members. Throws
 * {@link InvalidResponseError}.
 */
export function parseDecodeResponse(value: unknown): DecodeResponse {
  const { merchant, invoice } = objectOf(value, 'answer');
  return { merchant: readMerchant(objectOf(merchant, 'merchant')), invoice: readInvoice(objectOf(invoice, 'invoice')) };
}

type Members = Record<string, unknown>;

function readMerchant(members: Members): Merchant {
  const currencyISOCode = currencyOf(members, 'merchant');
  return {
    merchantReference: required(members, 'merchantReference', isIdentifier),
    merchantName: required(members, 'merchantName', isName),
    currencyISOCode,
    currencySymbol: optional(members, 'currencySymbol', isIdentifier) ?? currencySymbol(currencyISOCode),
    features: readFeatures(objectOf(members['features'] ?? {}, 'features')),
  };
}

function readFeatures(members: Members): MerchantFeatures {
  const part = (name: string): Members | undefined =>
    isAbsent(members[name]) ? undefined : objectOf(members[name], `features.${name}`);
  const [amount, orderReference, tip] = [part('amount'), part('orderReference'), part('tip')];
  return present({
    amount: amount && present({ editable: optional(amount, 'editable', isBoolean) }),
    orderReference:
      orderReference &&
      present({
        label: optional(orderReference, 'label', isName),
        editable: optional(orderReference, 'editable', isBoolean),
        required: optional(orderReference, 'required', isBoolean),
      }),
    tip: tip && present({ enabled: optional(tip, 'enabled', isBoolean) }),
  });
}

function readInvoice(members: Members): Invoice {
  return {
    siteReference: required(members, 'siteReference', isIdentifier),
    currencyISOCode: currencyOf(members, 'invoice'),
    amount: required(members, 'amount', isAmountInCents),
    ...present({ lineItems: optional(members, 'lineItems', isListOf(MAX_LINE_ITEMS))?.map(readLineItem) }),
    createdUTCDate: new Date(required(members, 'createdUTCDate', isUtcDate)).toISOString(),
    ...present({
      origin: optional(members, 'origin', isIdentifier),
      originReference: optional(members, 'originReference', isIdentifier),
      invoiceReference: optional(members, 'invoiceReference', isIdentifier),
      orderReference: optional(members, 'orderReference', isIdentifier),
      state: optional(members, 'state', isState),
    }),
  };
}

function readLineItem(value: unknown): LineItem {
  const members = objectOf(value, 'lineItems');
  const [productCode, sku] = [optional(members, 'productCode', isIdentifier), optional(members, 'sku', isIdentifier)];
  if (productCode === undefined && sku === undefined) throw new InvalidResponseError('A line item has no code.');
  const categories = optional(members, 'categories', isListOf(MAX_CATEGORIES));
  if (categories?.some((category) => !isIdentifier(category)))
    throw new InvalidResponseError('categories is not valid.');
  return {
    ...present({ name: optional(members, 'name', isName), productCode, sku }),
    unitPrice: String(Number(required(members, 'unitPrice', isUnitPrice))),
    ...present({ categories: categories as string[] | undefined, quantity: optional(members, 'quantity', isQuantity) }),
  };
}

function currencyOf(members: Members, of: string): string {
  const code = required(members, 'currencyISOCode', (value): value is string => typeof value === 'string');
  if (!/^[A-Z]{3}$/.test(code)) throw new InvalidResponseError(`${of}.currencyISOCode is not valid.`);
  return code;
}

function required<T>(members: Members, name: string, is: (value: unknown) => value is T): T {
  const value = members[name];
  if (!is(value)) throw new InvalidResponseError(`${name} is not valid.`);
  return value;
}

function optional<T>(members: Members, name: string, is: (value: unknown) => value is T): T | undefined {
  return isAbsent(members[name]) ? undefined : required(members, name, is);
}

function objectOf(value: unknown, name: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidResponseError(`${name} is not an object.`);
  return value as Members;
}

type Present<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

function present<T extends object>(members: T): Present<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Present<T>;
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
