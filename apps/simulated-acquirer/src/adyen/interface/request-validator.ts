import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { AdyenError, requiredFieldMissing } from './adyen-error.js';
import { REQUEST_SCHEMAS } from './request-schemas.js';

export type RequestType =
  | 'PaymentRequest'
  | 'PaymentDetailsRequest'
  | 'PaymentCaptureRequest'
  | 'PaymentCancelRequest'
  | 'StandalonePaymentCancelRequest'
  | 'PaymentRefundRequest'
  | 'PaymentReversalRequest'
  | 'StoredPaymentMethodRequest';

/** Validates bodies of requests against the schemas of Adyen's OpenAPI document. */
export class RequestValidator {
  private readonly ajv = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true });

  constructor() {
    for (const [name, text] of Object.entries(REQUEST_SCHEMAS)) this.ajv.addSchema(JSON.parse(text) as object, name);
  }

  /** Throws Adyen's error if the body is not a request of this type. */
  assertValid(type: RequestType, body: unknown): void {
    const validate = this.ajv.getSchema(type) as ValidateFunction;
    if (validate(body)) return;
    throw toAdyenError(type, validate.errors![0]!);
  }
}

/**
 * Documentation: "Error codes and messages": 702 for a body that cannot be read, and a code of its own for a required
 * field. The message about unknown fields is the one that Adyen's servers send; no page lists it.
 */
function toAdyenError(type: RequestType, { keyword, instancePath, params, message = '' }: ErrorObject): AdyenError {
  const path = instancePath.slice(1).replaceAll('/', '.');
  if (keyword === 'required') {
    const field = String(params['missingProperty']);
    return requiredFieldMissing(path === '' ? field : `${path}.${field}`);
  }
  if (keyword === 'additionalProperties') {
    const field = String(params['additionalProperty']);
    return new AdyenError(400, '702', `Structure of ${path || type} contains the following unknown fields: [${field}]`);
  }
  return new AdyenError(400, '702', `Unexpected input: ${path || 'body'} ${message}`);
}
