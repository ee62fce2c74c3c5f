import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Operation } from '../control/faults.js';
import type { EmulatorContext, OperationResult } from '../emulator-context.js';
import { AdyenError, invalidMerchantAccount, requiredFieldMissing, UNAUTHORISED } from '../interface/adyen-error.js';
import { type RequestType, RequestValidator } from '../interface/request-validator.js';
import { cancel, technicalCancel, type TechnicalCancelRequest } from '../modifications/cancels.js';
import { capture } from '../modifications/captures.js';
import type { AmountModificationRequest, ModificationRequest } from '../modifications/modification-request.js';
import { refund, reverse } from '../modifications/refunds.js';
import { makePayment } from '../payments/make-payment.js';
import type { PaymentRequest } from '../payments/payment-request.js';
import {
  deletePaymentMethod,
  listPaymentMethods,
  type Shopper,
  type StoredPaymentMethodRequest,
  storePaymentMethod,
} from '../payments/stored-payment-methods.js';
import { type PaymentDetailsRequest, submitDetails } from '../payments/submit-details.js';
import { StoreFullError } from '../state/emulator-store.js';
import type { OperationRunner } from './operation-runner.js';

/** Paths begin with the version, as at Adyen's test system (OpenAPI document of Checkout, `servers`). */
const VERSION = '/v71';

interface CheckoutApiSettings {
  readonly context: EmulatorContext;
  readonly runner: OperationRunner;
  readonly apiKey: string;
}

type PathRequest = FastifyRequest<{ Params: { pspReference: string } }>;

/** Serves the part of Adyen's Checkout API v71 that the platform uses. */
export function serveCheckoutApi(parent: FastifyInstance, { context, runner, apiKey }: CheckoutApiSettings): void {
  const validator = new RequestValidator();

  /** Validates the body, runs the operation and sends its response. */
  const run = <T extends { readonly merchantAccount?: string; readonly reference?: string }>(
    operation: Operation,
    type: RequestType,
    request: FastifyRequest,
    reply: FastifyReply,
    perform: (body: T) => OperationResult,
  ): Promise<FastifyReply> => {
    const references = referencesOf(request);
    return runner.run(operation, request, reply, references, () => {
      validator.assertValid(type, request.body);
      const body = request.body as T;
      if (type !== 'PaymentDetailsRequest') assertMerchantAccount(context, body.merchantAccount);
      return perform(body);
    });
  };

  void parent.register(async (app) => {
    app.addHook('onRequest', async ({ headers }) => {
      if (headers['x-api-key'] !== apiKey) throw UNAUTHORISED;
    });
    app.setErrorHandler((error, _request, reply) => {
      const { status, ...rest } = toAdyenError(error).toServiceError();
      return reply.status(status).send({ status, ...rest });
    });

    app.post(`${VERSION}/payments`, (request, reply) =>
      run<PaymentRequest>('payments', 'PaymentRequest', request, reply, (body) => makePayment(context, body)),
    );
    app.post(`${VERSION}/payments/details`, (request, reply) =>
      run('details', 'PaymentDetailsRequest', request, reply, (body) =>
        submitDetails(context, body as unknown as PaymentDetailsRequest),
      ),
    );
    app.post(`${VERSION}/payments/:pspReference/captures`, (request: PathRequest, reply) =>
      run<AmountModificationRequest>('captures', 'PaymentCaptureRequest', request, reply, (body) =>
        capture(context, request.params.pspReference, body),
      ),
    );
    app.post(`${VERSION}/payments/:pspReference/cancels`, (request: PathRequest, reply) =>
      run<ModificationRequest>('cancels', 'PaymentCancelRequest', request, reply, (body) =>
        cancel(context, request.params.pspReference, body),
      ),
    );
    app.post(`${VERSION}/cancels`, (request, reply) =>
      run<TechnicalCancelRequest>('technical-cancels', 'StandalonePaymentCancelRequest', request, reply, (body) =>
        technicalCancel(context, body),
      ),
    );
    app.post(`${VERSION}/payments/:pspReference/refunds`, (request: PathRequest, reply) =>
      run<AmountModificationRequest>('refunds', 'PaymentRefundRequest', request, reply, (body) =>
        refund(context, request.params.pspReference, body),
      ),
    );
    app.post(`${VERSION}/payments/:pspReference/reversals`, (request: PathRequest, reply) =>
      run<ModificationRequest>('reversals', 'PaymentReversalRequest', request, reply, (body) =>
        reverse(context, request.params.pspReference, body),
      ),
    );
    app.post(`${VERSION}/storedPaymentMethods`, (request, reply) =>
      run<StoredPaymentMethodRequest>('stored-payment-methods', 'StoredPaymentMethodRequest', request, reply, (body) =>
        storePaymentMethod(context, body),
      ),
    );
    serveTokens(app, context, runner);
  });
}

/** The requests for stored cards that have no body. */
function serveTokens(app: FastifyInstance, context: EmulatorContext, runner: OperationRunner): void {
  app.get<{ Querystring: Partial<Shopper> }>(`${VERSION}/storedPaymentMethods`, (request, reply) =>
    runner.run('stored-payment-methods', request, reply, [], () =>
      listPaymentMethods(context, readShopper(context, request.query)),
    ),
  );
  app.delete<{ Params: { id: string }; Querystring: Partial<Shopper> }>(
    `${VERSION}/storedPaymentMethods/:id`,
    (request, reply) =>
      runner.run('stored-payment-methods', request, reply, [request.params.id], () =>
        deletePaymentMethod(context, request.params.id, readShopper(context, request.query)),
      ),
  );
}

function readShopper(context: EmulatorContext, { merchantAccount, shopperReference }: Partial<Shopper>): Shopper {
  assertMerchantAccount(context, merchantAccount);
  if (!shopperReference) throw requiredFieldMissing('shopperReference');
  return { merchantAccount: merchantAccount!, shopperReference };
}

function assertMerchantAccount({ merchantAccounts }: EmulatorContext, merchantAccount: string | undefined): void {
  if (!merchantAccounts.has(merchantAccount ?? '')) throw invalidMerchantAccount();
}

/** The references by which a fault of the control interface selects a request. */
function referencesOf({ params, body }: FastifyRequest): string[] {
  const { reference, paymentReference } = (body ?? {}) as Record<string, unknown>;
  const { pspReference } = (params ?? {}) as Record<string, unknown>;
  return [reference, paymentReference, pspReference].filter((each) => typeof each === 'string');
}

/** OpenAPI document of Checkout, example `generic-400`: a body that is no JSON. */
function toAdyenError(error: unknown): AdyenError {
  if (error instanceof AdyenError) return error;
  if (error instanceof StoreFullError) return new AdyenError(500, '000', error.message, 'internal');
  const { statusCode = 500 } = error as { statusCode?: number };
  return statusCode < 500
    ? new AdyenError(400, '702', 'Unexpected input: ", expected: }')
    : new AdyenError(500, '000', 'Internal error of the emulator', 'internal');
}
