import type { EmulatorContext, OperationResult } from '../emulator-context.js';
import { AdyenError, storedCardNotFound } from '../interface/adyen-error.js';
import { newPspReference } from '../interface/psp-reference.js';
import type { StoredCardRecord } from '../state/records.js';
import { readCardDetails } from './payment-request.js';

/** The fields of Adyen's StoredPaymentMethodRequest that the emulator uses. */
export interface StoredPaymentMethodRequest {
  readonly merchantAccount: string;
  readonly shopperReference: string;
  readonly recurringProcessingModel: string;
  readonly paymentMethod: Parameters<typeof readCardDetails>[0];
}

/** The owner of tokens. */
export interface Shopper {
  readonly merchantAccount: string;
  readonly shopperReference: string;
}

/** `POST /storedPaymentMethods` */
export function storePaymentMethod(context: EmulatorContext, request: StoredPaymentMethodRequest): OperationResult {
  context.store.assertNotFull();
  const { merchantAccount, shopperReference, recurringProcessingModel } = request;
  // OpenAPI document of Checkout: at least 3 characters.
  if (shopperReference.length < 3 || shopperReference.length > 256)
    throw new AdyenError(422, '14_002', "Field 'shopperReference' is not valid.");
  const stored: StoredCardRecord = {
    kind: 'stored-card',
    id: newPspReference(),
    merchantAccount,
    shopperReference,
    recurringProcessingModel,
    card: readCardDetails(request.paymentMethod),
    isDeleted: false,
    at: context.clock.nowText(),
  };
  return { status: 201, body: toResource(stored), records: [stored] };
}

/** `DELETE /storedPaymentMethods/{id}` */
export function deletePaymentMethod(context: EmulatorContext, id: string, shopper: Shopper): OperationResult {
  const stored = context.store.storedCards.get(id);
  // The OpenAPI document has no response for an unknown token.
  if (!stored || stored.isDeleted || !isOwnedBy(stored, shopper)) throw storedCardNotFound();
  return { status: 204, records: [{ ...stored, isDeleted: true }] };
}

/** `GET /storedPaymentMethods` */
export function listPaymentMethods({ store }: EmulatorContext, shopper: Shopper): OperationResult {
  const own = [...store.storedCards.values()].filter((stored) => !stored.isDeleted && isOwnedBy(stored, shopper));
  return { status: 200, body: { ...shopper, storedPaymentMethods: own.map(toResource) }, records: [] };
}

function isOwnedBy(stored: StoredCardRecord, { merchantAccount, shopperReference }: Shopper): boolean {
  return stored.merchantAccount === merchantAccount && stored.shopperReference === shopperReference;
}

/** Adyen's StoredPaymentMethodResource. */
function toResource({ id, shopperReference, recurringProcessingModel, card }: StoredCardRecord): object {
  return {
    id,
    type: 'scheme',
    brand: card.brand,
    lastFour: card.lastFour,
    expiryMonth: card.expiryMonth.padStart(2, '0'),
    expiryYear: card.expiryYear,
    ...(card.holderName === undefined ? {} : { holderName: card.holderName }),
    shopperReference,
    supportedRecurringProcessingModels: [recurringProcessingModel],
  };
}
