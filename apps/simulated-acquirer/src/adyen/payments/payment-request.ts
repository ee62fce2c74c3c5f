import { AdyenError, requiredFieldMissing, storedCardNotFound } from '../interface/adyen-error.js';
import { readCard } from '../interface/test-cards.js';
import type { EmulatorStore } from '../state/emulator-store.js';
import type { Amount, Card, PaymentOrder } from '../state/records.js';

/** The fields of Adyen's PaymentRequest that the emulator uses. The body was validated before. */
export interface PaymentRequest {
  readonly merchantAccount: string;
  readonly reference: string;
  readonly amount: Amount;
  readonly returnUrl: string;
  readonly paymentMethod: CardDetails;
  readonly additionalData?: Readonly<Record<string, string>>;
  readonly authenticationData?: {
    readonly attemptAuthentication?: 'always' | 'never';
    readonly threeDSRequestData?: { readonly nativeThreeDS?: 'preferred' | 'disabled' };
  };
  readonly browserInfo?: object;
  readonly origin?: string;
  readonly channel?: string;
  readonly shopperReference?: string;
  readonly shopperInteraction?: string;
  readonly recurringProcessingModel?: string;
  readonly storePaymentMethod?: boolean;
}

interface CardDetails {
  readonly type?: string;
  readonly number?: string;
  readonly expiryMonth?: string;
  readonly expiryYear?: string;
  readonly cvc?: string;
  readonly holderName?: string;
  readonly storedPaymentMethodId?: string;
  readonly encryptedCardNumber?: string;
}

/** Limits of the OpenAPI document that are only in its prose. */
const MAX_REFERENCE_LENGTH = 80;
const MAX_VALUE = 1_000_000_000_000;

/** Converts a request. Throws Adyen's error if its card, token or amount is invalid. */
export function toPaymentOrder(request: PaymentRequest, store: EmulatorStore): PaymentOrder {
  const { amount, reference, merchantAccount, shopperReference, recurringProcessingModel } = request;
  // Documentation: "Error codes and messages", 137 and 130.
  if (amount.value < 0 || amount.value > MAX_VALUE) throw new AdyenError(422, '137', 'Invalid amount specified');
  if (reference === '' || reference.length > MAX_REFERENCE_LENGTH) throw requiredFieldMissing('reference');
  const { paymentMethod, additionalData = {} } = request;
  const storedPaymentMethodId = paymentMethod.storedPaymentMethodId;
  const requestedCode = additionalData['RequestedTestAcquirerResponseCode'];
  if (storedPaymentMethodId === undefined && request.storePaymentMethod === true && shopperReference === undefined)
    throw requiredFieldMissing('shopperReference');
  return {
    merchantAccount,
    reference,
    amount,
    card:
      storedPaymentMethodId === undefined
        ? readCardDetails(paymentMethod)
        : findStoredCard(request, storedPaymentMethodId, store),
    ...(requestedCode === undefined ? {} : { requestedCode }),
    ...(shopperReference === undefined ? {} : { shopperReference }),
    // Documentation: "Recurring payments": a payment with a token and without interaction is `ContAuth`.
    shopperInteraction: request.shopperInteraction ?? 'Ecommerce',
    ...(recurringProcessingModel === undefined ? {} : { recurringProcessingModel }),
    // Documentation: "Capture": automatic by default, manual for one payment with `additionalData.manualCapture`.
    isManualCapture: additionalData['manualCapture'] === 'true',
    storesCard: request.storePaymentMethod === true && storedPaymentMethodId === undefined,
    ...(storedPaymentMethodId === undefined ? {} : { storedPaymentMethodId }),
  };
}

/** A card in the clear. Encrypted cards come from Adyen's own scripts, which the emulator does not have. */
export function readCardDetails(details: CardDetails): Card {
  const { type = 'scheme', number, expiryMonth, expiryYear, cvc, holderName } = details;
  // Documentation: "Error codes and messages", 905.
  if (type !== 'scheme' && type !== 'card')
    throw new AdyenError(500, '905', 'Payment details are not supported', 'configuration');
  if (number === undefined) throw requiredFieldMissing('paymentMethod.number');
  if (expiryMonth === undefined) throw requiredFieldMissing('paymentMethod.expiryMonth');
  if (expiryYear === undefined) throw requiredFieldMissing('paymentMethod.expiryYear');
  return readCard({ number, expiryMonth, expiryYear, cvc, holderName });
}

function findStoredCard(request: PaymentRequest, id: string, store: EmulatorStore): Card {
  const { merchantAccount, shopperReference, paymentMethod } = request;
  if (shopperReference === undefined) throw requiredFieldMissing('shopperReference');
  const stored = store.storedCards.get(id);
  const isOwn = stored?.merchantAccount === merchantAccount && stored.shopperReference === shopperReference;
  if (!stored || !isOwn || stored.isDeleted) throw storedCardNotFound();
  const { holderName } = paymentMethod;
  return holderName === undefined ? stored.card : { ...stored.card, holderName };
}
