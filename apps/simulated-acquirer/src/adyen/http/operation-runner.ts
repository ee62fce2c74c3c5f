import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Fault, Faults, Operation } from '../control/faults.js';
import type { OperationResult } from '../emulator-context.js';
import { AdyenError, requestInProgress } from '../interface/adyen-error.js';
import type { EmulatorStore } from '../state/emulator-store.js';
import type { FirstResponseRecord } from '../state/records.js';

/** OpenAPI document of Checkout, parameter Idempotency-Key. */
const MAX_KEY_LENGTH = 64;

interface Response {
  readonly status: number;
  /** JSON; empty if there is none. */
  readonly body: string;
  readonly isTransient?: boolean;
}

/**
 * Runs an operation once for each idempotency key, and applies the faults of the control interface (documentation: "API
 * idempotency"). Keys belong to the company account, so a key of another operation or another body returns its first
 * response too. They are valid for at least 7 days; the emulator keeps them as long as its file.
 */
export class OperationRunner {
  private readonly keysInProgress = new Set<string>();

  constructor(
    private readonly store: EmulatorStore,
    private readonly faults: Faults,
    private readonly now: () => string,
    private readonly wakeWebhooks: () => void,
  ) {}

  /** @param references by which a fault can select this request */
  async run(
    operation: Operation,
    request: FastifyRequest,
    reply: FastifyReply,
    references: readonly string[],
    perform: () => OperationResult,
  ): Promise<FastifyReply> {
    const fault = this.faults.take(operation, references);
    if (fault?.type === 'lose-request') return dropConnection(request, reply);
    const key = readKey(request);
    const response = await this.respond(key, fault, perform);
    if (response === undefined) return sendFault(reply, fault!);
    this.wakeWebhooks();
    if (fault?.type === 'lose-response') return dropConnection(request, reply);
    if (fault?.type === 'status-after') {
      // An error that is not transient is the stored response of the key, whether or not the request had an effect.
      const error = faultError(fault);
      this.store.commit(this.firstResponse(key, toResponse(error)));
      return sendFault(reply, fault);
    }
    if (fault?.type === 'not-json-after') return sendFault(reply, fault);
    if (fault?.type === 'delay-response') await wait(fault.delayMs);
    return sendResponse(reply, response, key);
  }

  /** @returns undefined if the fault prevents the operation */
  private async respond(
    key: string | undefined,
    fault: Fault | undefined,
    perform: () => OperationResult,
  ): Promise<Response | undefined> {
    if (key !== undefined && this.keysInProgress.has(key)) return toResponse(requestInProgress());
    if (key !== undefined) this.keysInProgress.add(key);
    try {
      if (fault?.type === 'delay-request') await wait(fault.delayMs);
      if (fault?.type === 'status' || fault?.type === 'not-json') return undefined;
      const first = key === undefined ? undefined : this.store.firstResponses.get(key);
      return first ?? this.perform(key, perform);
    } finally {
      if (key !== undefined) this.keysInProgress.delete(key);
    }
  }

  private perform(key: string | undefined, perform: () => OperationResult): Response {
    try {
      const { status, body, records } = perform();
      const response = { status, body: body ? JSON.stringify(body) : '' };
      this.store.commit([...records, ...this.firstResponse(key, response)]);
      return response;
    } catch (error) {
      if (!(error instanceof AdyenError)) throw error;
      const response = toResponse(error);
      // A request that was not processed has no first response.
      const isProcessed = error.status === 422 || error.status >= 500;
      if (isProcessed && !error.isTransient) this.store.commit(this.firstResponse(key, response));
      return response;
    }
  }

  private firstResponse(key: string | undefined, { status, body }: Response): FirstResponseRecord[] {
    return key === undefined ? [] : [{ kind: 'first-response', key, status, body, at: this.now() }];
  }
}

function readKey({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (typeof key !== 'string' || key === '') return undefined;
  if (key.length > MAX_KEY_LENGTH) throw new AdyenError(422, '14_002', "Field 'Idempotency-Key' is not valid.");
  return key;
}

function toResponse(error: AdyenError): Response {
  return { status: error.status, body: JSON.stringify(error.toServiceError()), isTransient: error.isTransient };
}

/** The OpenAPI document has the header Idempotency-Key for success and for 422. */
function sendResponse(
  reply: FastifyReply,
  { status, body, isTransient = false }: Response,
  key: string | undefined,
): FastifyReply {
  reply.status(status);
  if (key !== undefined && (status < 300 || status === 422)) reply.header('idempotency-key', key);
  if (isTransient) reply.header('transient-error', 'true');
  return body === '' ? reply.send() : reply.type('application/json;charset=utf-8').send(body);
}

function faultError({ status = 503 }: Fault): AdyenError {
  return new AdyenError(status, '000', 'Fault of the emulator', 'internal');
}

function sendFault(reply: FastifyReply, fault: Fault): FastifyReply {
  const { type } = fault;
  if (type === 'not-json' || type === 'not-json-after')
    return reply.status(200).type('text/html').send('<html><body>Emulator: this is no JSON</body></html>');
  if (type === 'status') reply.header('transient-error', 'true');
  const error = faultError(fault);
  return reply.status(error.status).send(error.toServiceError());
}

/** The timer does not delay the exit of the process. */
async function wait(delayMs = 0): Promise<void> {
  if (delayMs > 0) await delay(delayMs, undefined, { ref: false });
}

function dropConnection(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.hijack();
  request.raw.socket.destroy();
  return reply;
}
