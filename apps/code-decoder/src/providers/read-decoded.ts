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

/** Of one line item; a provider's may have more than our own. */
const CATEGORIES_MAX = 50;

/** Why a provider's answer cannot be passed on. Names the member, never its value. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer';
}

/**
 * A provider's JSON as the response of the specification: every required member there and of its type, optional ones
 * that are null absent, unknown ones gone. What somebody else's server says is input like any other. Throws
 * {@link UnreadableAnswer}.
 */
export function readDecoded(value: unknown): DecodeResponse {
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
  if (productCode === undefined && sku === undefined) throw new UnreadableAnswer('A line item has no code.');
  const categories = optional(members, 'categories', isListOf(CATEGORIES_MAX));
  if (categories?.some((category) => !isIdentifier(category)))
    throw new UnreadableAnswer('categories is not readable.');
  return {
    ...present({ name: optional(members, 'name', isName), productCode, sku }),
    unitPrice: String(Number(required(members, 'unitPrice', isUnitPrice))),
    ...present({ categories: categories as string[] | undefined, quantity: optional(members, 'quantity', isQuantity) }),
  };
}

function currencyOf(members: Members, of: string): string {
  const code = required(members, 'currencyISOCode', (value): value is string => typeof value === 'string');
  if (!/^[A-Z]{3}$/.test(code)) throw new UnreadableAnswer(`${of}.currencyISOCode is not readable.`);
  return code;
}

function required<T>(members: Members, name: string, is: (value: unknown) => value is T): T {
  const value = members[name];
  if (!is(value)) throw new UnreadableAnswer(`${name} is not readable.`);
  return value;
}

function optional<T>(members: Members, name: string, is: (value: unknown) => value is T): T | undefined {
  return isAbsent(members[name]) ? undefined : required(members, name, is);
}

function objectOf(value: unknown, name: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UnreadableAnswer(`${name} is no object.`);
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
