/** Result of a hosted or merchant payment (specification, "PaymentStatus values"). */
export enum PaymentStatus {
  Success = 1,
  Failed = 2,
}

/**
 * API-level status of a hosted gateway response (specification, "ResponseStatus values"). Any value but Success is an
 * error.
 */
export enum ResponseStatus {
  Success = 1,
  BadRequest = 2,
  NotFound = 3,
  Unauthorized = 4,
  InternalServer = 5,
}

/** The names of PaymentStatus: the hosted gateway's API and webhook contain text, not numbers (H4). */
export type PaymentStatusText = keyof typeof PaymentStatus;
/** The names of ResponseStatus (H4). */
export type ResponseStatusText = keyof typeof ResponseStatus;

/** Reads a PaymentStatus that is text or a number (H4: readers accept both). Returns undefined for other values. */
export function readPaymentStatus(value: unknown): PaymentStatus | undefined {
  return readEnum(PaymentStatus, value);
}

/** Reads a ResponseStatus that is text or a number (H4). Returns undefined for other values. */
export function readResponseStatus(value: unknown): ResponseStatus | undefined {
  return readEnum(ResponseStatus, value);
}

function readEnum<T extends number>(values: Record<string, string | T>, value: unknown): T | undefined {
  if (typeof value === 'string' && Object.hasOwn(values, value)) {
    const found = values[value];
    if (typeof found === 'number') return found;
  }
  if (typeof value === 'number' && Object.hasOwn(values, String(value))) return value as T;
  return undefined;
}
