import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { moveDispute } from '../disputes/move-dispute.js';
import type { EmulatorContext } from '../emulator-context.js';
import { failCapture } from '../modifications/captures.js';
import { undoRefund } from '../modifications/refunds.js';
import { closeBatch } from '../settlement/close-batch.js';
import type { EmulatorRecord, WebhookRecord } from '../state/records.js';
import type { WebhookEndpoint, WebhookQueue } from '../webhooks/webhook-queue.js';
import type { WebhookRule, WebhookRules } from '../webhooks/webhook-rules.js';
import { isLocalRequest } from './control-guard.js';
import { CONTROL_PAGE_HEADERS, controlPage } from './control-page.js';
import {
  CLOCK_BODY,
  DISPUTE_BODY,
  ENDPOINT_BODY,
  FAULT_BODY,
  MODIFICATION_FAILURE_BODY,
  RELEASE_BODY,
  SETTLEMENT_BODY,
  UNKNOWN_EVENT_BODY,
  WEBHOOK_RULE_BODY,
} from './control-schemas.js';
import type { Fault, Faults } from './faults.js';
import type { RequestedFailure } from './request-outcomes.js';

export interface ControlSettings {
  readonly context: EmulatorContext;
  readonly faults: Faults;
  readonly rules: WebhookRules;
  readonly queue: WebhookQueue;
  /** User and password of the webhooks, unless a request sets others. */
  readonly webhookUser: Omit<WebhookEndpoint, 'url'>;
}

/** Number of records of each kind that a list contains; the newest. */
const LIST_LENGTH = 200;

/**
 * The emulator's control interface, which is not part of Adyen's. Tests and a person use it to cause faults, disputes,
 * settlements and delays. It only answers requests of this machine, so that no other client can use it.
 */
export function serveControl(parent: FastifyInstance, settings: ControlSettings): void {
  void parent.register(
    async (app) => {
      app.addHook('onRequest', async (request, reply) => {
        if (!isLocalRequest(request)) await reply.status(403).send({ message: 'Only from this machine.' });
      });
      app.get('/', (_request, reply) =>
        reply.headers(CONTROL_PAGE_HEADERS).send(controlPage(settings.context, settings.faults)),
      );
      app.get('/state', async () => listState(settings));
      serveFaults(app, settings);
      serveWebhookControl(app, settings);
      servePaymentControl(app, settings);
    },
    { prefix: '/emulator' },
  );
}

/** The newest records, for tests. */
function listState({ context: { store, clock }, faults, rules }: ControlSettings): object {
  const newest = <T>(map: ReadonlyMap<unknown, T>): T[] => [...map.values()].slice(-LIST_LENGTH);
  return {
    now: clock.nowText(),
    payments: newest(store.payments),
    challenges: newest(store.challenges),
    modifications: newest(store.modifications),
    storedCards: newest(store.storedCards),
    disputes: newest(store.disputes),
    batches: newest(store.batches),
    webhooks: newest(store.webhooks),
    faults: faults.list(),
    webhookRules: rules.list(),
  };
}

function serveFaults(app: FastifyInstance, { context, faults }: ControlSettings): void {
  app.post<{ Body: Fault }>('/faults', { schema: { body: FAULT_BODY } }, (request, reply) => {
    faults.add(request.body);
    return answer(request, reply, { faults: faults.list() });
  });
  app.delete('/faults', async () => {
    faults.clear();
    return { faults: [] };
  });
  app.post<{ Body: RequestedFailure }>(
    '/modification-failures',
    { schema: { body: MODIFICATION_FAILURE_BODY } },
    (request, reply) => {
      context.outcomes.add(request.body);
      return answer(request, reply, request.body);
    },
  );
}

function serveWebhookControl(app: FastifyInstance, { context, rules, queue, webhookUser }: ControlSettings): void {
  const { store, notifications } = context;
  app.post<{ Body: WebhookRule }>('/webhook-rules', { schema: { body: WEBHOOK_RULE_BODY } }, (request, reply) => {
    rules.add(request.body);
    return answer(request, reply, { webhookRules: rules.list() });
  });
  app.delete('/webhook-rules', async () => {
    rules.clear();
    return { webhookRules: [] };
  });
  app.put<{ Body: { url: string; user?: string; password?: string } }>(
    '/webhook-endpoint',
    { schema: { body: ENDPOINT_BODY } },
    async ({ body }) => {
      const endpoint = { ...webhookUser, ...body };
      queue.setEndpoint(endpoint);
      return { url: endpoint.url };
    },
  );
  app.post<{ Body: { order: 'oldest-first' | 'newest-first'; eventCode?: string } }>(
    '/webhooks/release',
    { schema: { body: RELEASE_BODY } },
    async (request, reply) => {
      const { order, eventCode } = request.body;
      const released = [...store.webhooks.values()]
        .filter(({ state, item }) => state === 'withheld' && (eventCode ?? item.eventCode) === item.eventCode)
        .sort((a, b) => (order === 'newest-first' ? b.id - a.id : a.id - b.id))
        .map((webhook): WebhookRecord => ({ ...webhook, state: 'queued', nextAttemptAt: context.clock.nowText() }));
      store.commit(released);
      await queue.sendInOrder(released);
      return answer(request, reply, { released: released.map(({ id }) => id) });
    },
  );
  app.post('/webhooks/deliver', async (request, reply) => {
    await queue.flush();
    return answer(request, reply, { waiting: store.queuedWebhooks.size });
  });
  app.post<{ Params: { id: number } }>(
    '/webhooks/:id/send',
    { schema: { params: { type: 'object', properties: { id: { type: 'integer' } } } } },
    async (request, reply) => {
      const webhook = store.webhooks.get(request.params.id);
      if (!webhook) return notPossible(reply, 404);
      await queue.sendInOrder([webhook]);
      return answer(request, reply, store.webhooks.get(webhook.id)!);
    },
  );
  app.post<{ Body: { eventCode: string; merchantAccount: string } }>(
    '/webhooks/events',
    { schema: { body: UNKNOWN_EVENT_BODY } },
    (request, reply) => {
      store.commit(notifications.unknownEvent(request.body.eventCode, request.body.merchantAccount));
      queue.wake();
      return answer(request, reply, {});
    },
  );
}

function servePaymentControl(app: FastifyInstance, { context, queue }: ControlSettings): void {
  const { store, clock } = context;
  type PathRequest = FastifyRequest<{ Params: { pspReference: string } }>;
  /** Writes the records of a change; without records the change is not possible. */
  const change = (
    request: FastifyRequest,
    reply: FastifyReply,
    records: readonly EmulatorRecord[] | undefined,
    body: object = {},
  ): FastifyReply => {
    if (!records) return notPossible(reply, 409);
    store.commit(records);
    queue.wake();
    return answer(request, reply, body);
  };

  app.post('/payments/:pspReference/capture-failed', (request: PathRequest, reply) => {
    const payment = store.payments.get(request.params.pspReference);
    return payment ? change(request, reply, failCapture(context, payment)) : notPossible(reply, 404);
  });
  for (const [path, eventCode] of [
    ['failed', 'REFUND_FAILED'],
    ['reversed', 'REFUNDED_REVERSED'],
  ] as const) {
    app.post(`/refunds/:pspReference/${path}`, (request: PathRequest, reply) => {
      const refund = store.modifications.get(request.params.pspReference);
      return refund ? change(request, reply, undoRefund(context, eventCode, refund)) : notPossible(reply, 404);
    });
  }
  app.post<{ Params: { pspReference: string }; Body: { eventCode: string; value?: number } }>(
    '/payments/:pspReference/disputes',
    { schema: { body: DISPUTE_BODY } },
    (request, reply) => {
      const payment = store.payments.get(request.params.pspReference);
      if (!payment) return notPossible(reply, 404);
      const moved = moveDispute(context, payment, request.body.eventCode, request.body.value);
      return change(request, reply, moved?.records, moved?.dispute);
    },
  );
  app.post<{ Body: { merchantAccount: string } }>(
    '/settlements',
    { schema: { body: SETTLEMENT_BODY } },
    (request, reply) => {
      if (!context.merchantAccounts.has(request.body.merchantAccount)) return notPossible(reply, 404);
      const { batch, fileName, url, records } = closeBatch(context, request.body.merchantAccount);
      return change(request, reply, records, { batch: batch.number, fileName, url });
    },
  );
  app.post<{ Body: { advanceMs: number } }>('/clock', { schema: { body: CLOCK_BODY } }, (request, reply) => {
    clock.setOffset(clock.offset + request.body.advanceMs);
    return change(request, reply, [{ kind: 'clock', offsetMs: clock.offset }], { now: clock.nowText() });
  });
}

/** JSON for a program; a form of the page returns to the page. */
function answer({ headers }: FastifyRequest, reply: FastifyReply, body: object): FastifyReply {
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded');
  return isForm ? reply.redirect('/emulator/', 303) : reply.send(body);
}

function notPossible(reply: FastifyReply, status: 404 | 409): FastifyReply {
  const message = status === 404 ? 'There is no such record.' : 'This is not possible in its state.';
  return reply.status(status).send({ message });
}
