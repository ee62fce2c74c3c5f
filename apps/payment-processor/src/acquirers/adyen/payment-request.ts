import type { Amount } from '@adyen/api-library/lib/src/typings/checkout/amount.js';
import type { BrowserInfo } from '@adyen/api-library/lib/src/typings/checkout/browserInfo.js';
import type { CardDetails } from '@adyen/api-library/lib/src/typings/checkout/cardDetails.js';
import type { PaymentRequest } from '@adyen/api-library/lib/src/typings/checkout/paymentRequest.js';
import type { StoredPaymentMethodRequest } from '@adyen/api-library/lib/src/typings/checkout/storedPaymentMethodRequest.js';
import { type BrowserData, MAX_IDENTIFIER_LENGTH, type PayerContext } from '@svc/contracts';
import type { Card } from '../../card-data/card.js';
import type { CardCharge, ChargeTerms, StoredCard, VaultCard } from '../acquirer.js';

/**
 * A type of Adyen's library as JSON. An enum of the library becomes its texts, because only the types of the library are
 * imported.
 */
export type Json<T> = T extends string ? `${T}` : T extends object ? { readonly [K in keyof T]: Json<T[K]> } : T;

/** A token of Adyen's vault, and the reference of its shopper, which each call about the token needs. */
export interface VaultToken {
  readonly storedPaymentMethodId: string;
  readonly shopperReference: string;
}

/** The two texts of a token in {@link StoredCard.vaultToken}. Neither contains this character. */
const SEPARATOR = ':';
/** In Adyen's OpenAPI document the maximum of `CardDetails.storedPaymentMethodId` is 64. */
const TOKEN = /^([A-Za-z0-9_-]{1,64}):([A-Za-z0-9_-]{3,64})$/;

/** Undefined for a token that a stored card cannot contain. */
export function toStoredCard({
  storedPaymentMethodId,
  shopperReference,
  merchantAccount,
}: VaultToken & { readonly merchantAccount: string }): VaultCard | undefined {
  const vaultToken = storedPaymentMethodId + SEPARATOR + shopperReference;
  const isUsable = TOKEN.test(vaultToken) && vaultToken.length <= MAX_IDENTIFIER_LENGTH;
  return isUsable ? { vaultToken, vaultAccount: merchantAccount } : undefined;
}

/** Undefined for a token of another acquirer. */
export function toVaultToken({ vaultToken }: StoredCard): VaultToken | undefined {
  const [, storedPaymentMethodId, shopperReference] = TOKEN.exec(vaultToken) ?? [];
  return storedPaymentMethodId !== undefined && shopperReference !== undefined
    ? { storedPaymentMethodId, shopperReference }
    : undefined;
}

/** The body of `POST /payments`. Undefined for a stored card of another acquirer. */
export function toPaymentRequest(charge: CardCharge): Json<PaymentRequest> | undefined {
  const source = 'vaultToken' in charge.card ? toStoredSource(charge.card, charge.payer) : toCardSource(charge.card);
  return source && { ...toTerms(charge), ...toVerificationData(charge), ...source };
}

export function toAmount({ amount, currencyISOCode }: Pick<ChargeTerms, 'amount' | 'currencyISOCode'>): Json<Amount> {
  return { value: amount, currency: currencyISOCode };
}

/** The body of `POST /storedPaymentMethods`. */
export function toStoreRequest(
  card: Card,
  { merchantAccount, shopperReference }: { merchantAccount: string; shopperReference: string },
): Json<StoredPaymentMethodRequest> {
  return {
    merchantAccount,
    shopperReference,
    recurringProcessingModel: 'CardOnFile',
    paymentMethod: { type: 'scheme', ...toCardFields(card) },
  };
}

function toTerms(
  charge: CardCharge,
): Pick<Json<PaymentRequest>, 'additionalData' | 'amount' | 'merchantAccount' | 'reference'> {
  return {
    merchantAccount: charge.account.accountReference,
    reference: charge.paymentReference,
    amount: toAmount(charge),
    // Each payment is captured by a request of its own, whatever the merchant account's setting is (the OpenAPI document,
    // AdditionalDataCommon.manualCapture).
    additionalData: { manualCapture: 'true' },
  };
}

type Source = Pick<
  Json<PaymentRequest>,
  'paymentMethod' | 'recurringProcessingModel' | 'shopperInteraction' | 'shopperReference'
>;

function toCardSource(card: Card): Source {
  const details: Json<CardDetails> = { type: 'scheme', ...toCardFields(card) };
  return { paymentMethod: details, shopperInteraction: 'Ecommerce' };
}

function toCardFields(card: Card): Pick<Json<CardDetails>, 'expiryMonth' | 'expiryYear' | 'holderName' | 'number'> {
  return {
    number: card.cardNumber,
    expiryMonth: String(card.expiryMonth).padStart(2, '0'),
    expiryYear: String(card.expiryYear),
    holderName: card.holderName,
    ...(card.cvv === undefined ? {} : { cvc: card.cvv }),
  };
}

/**
 * A card on file is charged with its owner at the browser, or without (the OpenAPI document,
 * PaymentRequest.shopperInteraction). Only an owner who is present can be authenticated.
 */
function toStoredSource(card: StoredCard, payer: PayerContext | undefined): Source | undefined {
  const token = toVaultToken(card);
  if (token === undefined) return undefined;
  const details: Json<CardDetails> = { type: 'scheme', storedPaymentMethodId: token.storedPaymentMethodId };
  return {
    paymentMethod: details,
    shopperReference: token.shopperReference,
    shopperInteraction: payer === undefined ? 'ContAuth' : 'Ecommerce',
    recurringProcessingModel: 'CardOnFile',
  };
}

/** In Adyen's OpenAPI document the maximum of `PaymentRequest.origin`. */
const MAX_ORIGIN_LENGTH = 80;

type VerificationData = Pick<
  Json<PaymentRequest>,
  'authenticationData' | 'browserInfo' | 'channel' | 'origin' | 'returnUrl' | 'shopperEmail' | 'shopperIP'
>;

/** The fields of 3D Secure 2 with a redirect to the bank's page. */
function toVerificationData({ bankReturnUrl, pageOrigin, payer, forceVerification }: CardCharge): VerificationData {
  const browserInfo = toBrowserInfo(payer?.browser);
  return {
    channel: 'Web',
    returnUrl: bankReturnUrl,
    // No page of this service loads Adyen's scripts, which the native flow would need.
    authenticationData: {
      threeDSRequestData: { nativeThreeDS: 'disabled' },
      // Also if neither a rule of the merchant account nor the issuer requires it.
      ...(forceVerification ? { attemptAuthentication: 'always' } : {}),
    },
    ...(pageOrigin !== undefined && pageOrigin.length <= MAX_ORIGIN_LENGTH ? { origin: pageOrigin } : {}),
    ...(browserInfo ? { browserInfo } : {}),
    ...toShopper(payer),
  };
}

function toShopper({ address, email }: PayerContext = {}): Pick<VerificationData, 'shopperEmail' | 'shopperIP'> {
  return {
    ...(address === undefined ? {} : { shopperIP: address }),
    ...(email === undefined ? {} : { shopperEmail: email }),
  };
}

/** The accepted values, in Adyen's OpenAPI document at `BrowserInfo.colorDepth`. */
const COLOR_DEPTHS = [48, 32, 30, 24, 16, 15, 8, 4, 1];

/** Undefined unless each required field is known, because an incomplete object is an invalid request. */
function toBrowserInfo(browser: BrowserData = {}): Json<BrowserInfo> | undefined {
  const { acceptHeader, userAgent, language, screenWidth, screenHeight, timeZoneOffsetMinutes } = browser;
  const colorDepth = COLOR_DEPTHS.find((accepted) => accepted <= (browser.colorDepth ?? 0));
  if (acceptHeader === undefined || userAgent === undefined || language === undefined) return undefined;
  if (screenWidth === undefined || screenHeight === undefined) return undefined;
  if (colorDepth === undefined || timeZoneOffsetMinutes === undefined) return undefined;
  return {
    acceptHeader,
    userAgent,
    language,
    screenWidth,
    screenHeight,
    colorDepth,
    timeZoneOffset: timeZoneOffsetMinutes,
    // Browsers execute no Java: `navigator.javaEnabled()` returns false (the HTML standard).
    javaEnabled: false,
    ...(browser.javaScriptEnabled === undefined ? {} : { javaScriptEnabled: browser.javaScriptEnabled }),
  };
}
