/**
 * Lets the process crash before and after each message and each statement of a charge, a capture, a release, a refund and
 * a webhook at an acquirer that captures separately. Afterwards another process runs all jobs, and the acquirer sends its
 * webhooks. Then payments, ledger, events and the acquirer's records must agree, and nothing is charged twice.
 */
import { randomUUID } from 'node:crypto';
import { AdyenDriver } from '../../../test/contract/adyen-driver.js';
import { ABANDONED_AFTER_MS, type ContractPayment, ContractWorld } from '../../../test/contract/contract-world.js';
import { Crashes } from '../../../test/contract/crashes.js';
import { NOTIFICATIONS_PATH, WEBHOOK_USER } from '../../../test/contract/emulator-client.js';
import { expectInvariants } from '../../../test/contract/invariants.js';
import { createRefundClient } from '../../../test/merchant-key.js';
import { RequestCaptures } from '../../captures/request-captures.js';
import { ApplyReports } from '../../reports/apply-reports.js';

const driver = new AdyenDriver();
let world: ContractWorld;
let crashes: Crashes;
beforeAll(async () => {
  world = await ContractWorld.start(driver);
  crashes = new Crashes(world.acquirer);
});
beforeEach(() => world.beginCase());
afterAll(async () => {
  crashes.stop();
  await world.stop();
});

type Process = () => Promise<unknown>;

interface Scenario {
  readonly name: string;
  /** Prepares a payment. Returns the process that crashes. */
  readonly prepare: () => Promise<Process>;
  /** The messages to the acquirer that the process sends, besides its statements. */
  readonly messages: readonly string[];
}

const job = {
  apply: () => world.processor.service.app.get(ApplyReports).runStep(),
  capture: () => world.processor.service.app.get(RequestCaptures).runStep('adyen'),
  recover: () => world.processor.recoverAttempts(),
  cleanup: () => world.processor.runCleanup(),
  recoverRefunds: () => world.processor.recoverRefunds(),
};

/** A payment whose charge was processed, while its response was lost. No webhook has arrived. */
async function payWithLostResponse(): Promise<ContractPayment> {
  await driver.causeFault('charge', 'responseLost');
  return world.pay();
}

async function payAndCapture(): Promise<ContractPayment> {
  const payment = await world.pay();
  await job.capture();
  await world.deliverReports();
  return payment;
}

/** A payment whose capture Adyen refuses. */
async function payAndRefuseCapture(): Promise<void> {
  await driver.failNext('capture');
  await world.pay();
  await world.deliverReports();
  await job.capture();
}

async function payAndAbandon(): Promise<ContractPayment> {
  const payment = await payWithLostResponse();
  world.processor.clock.advance(ABANDONED_AFTER_MS);
  await job.recover();
  return payment;
}

/** Refunds by the merchant's API. The process that waits for the outcome returns at once, with a pending refund. */
async function requestRefund({ paymentReference }: ContractPayment): Promise<Process> {
  const backOffice = await createRefundClient(world.processor, { merchantId: world.merchantId });
  return () => {
    world.beforeNextResponse('refund', () => Promise.resolve(world.processor.clock.advance(21_000)));
    return backOffice.refund(paymentReference, { amount: 345 }, randomUUID()).then(({ status }) => {
      if (status >= 500) throw new Error(`The refund ends with ${status}.`);
    });
  };
}

/** Sends a webhook to the service as the emulator does, in this process. */
async function receiveWebhook(eventCode: string): Promise<Process> {
  const { webhooks } = await driver.emulator.state();
  const { live, item } = webhooks.findLast((webhook) => webhook.item.eventCode === eventCode)!;
  const authorization = `Basic ${Buffer.from(`${WEBHOOK_USER.user}:${WEBHOOK_USER.password}`).toString('base64')}`;
  return async () => {
    const { statusCode } = await world.processor.service.app.inject({
      method: 'POST',
      url: NOTIFICATIONS_PATH,
      headers: { authorization },
      payload: { live, notificationItems: [{ NotificationRequestItem: item }] },
    });
    if (statusCode !== 200) throw new Error(`The webhook ends with ${statusCode}.`);
  };
}

/** Sends the withheld webhooks, which the service stores. Returns the process that applies them. */
async function applyNext(): Promise<Process> {
  await driver.deliverReports();
  return job.apply;
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'a charge',
    prepare: () => {
      const payable = world.newPayable();
      return Promise.resolve(() => world.pay('approved', { payable }));
    },
    messages: ['charge'],
  },
  {
    name: 'a charge whose response is lost',
    prepare: async () => {
      await driver.causeFault('charge', 'responseLost');
      return () => world.pay();
    },
    messages: ['charge'],
  },
  {
    name: 'a verified charge',
    prepare: async () => {
      const payment = await world.pay('verificationRequired');
      await world.answerChallenge(payment, 'pass');
      world.processor.clock.advance(1_000);
      return () => world.processor.pollPayments(payment.payable);
    },
    messages: ['chargeVerified'],
  },
  {
    name: 'a capture',
    prepare: async () => {
      await world.pay();
      return job.capture;
    },
    messages: ['capture'],
  },
  {
    name: 'the receipt of a webhook',
    prepare: async () => {
      await payWithLostResponse();
      return receiveWebhook('AUTHORISATION');
    },
    messages: [],
  },
  {
    name: 'the webhook of a charge',
    prepare: async () => {
      await payWithLostResponse();
      return applyNext();
    },
    messages: [],
  },
  {
    name: 'the webhook of a capture',
    prepare: async () => {
      await world.pay();
      await world.deliverReports();
      await job.capture();
      return applyNext();
    },
    messages: [],
  },
  {
    name: 'the webhook of a failed capture',
    prepare: async () => {
      const { paymentReference } = await payAndCapture();
      await driver.failCapture(paymentReference);
      return applyNext();
    },
    messages: [],
  },
  {
    name: 'the webhook of a refused capture',
    prepare: async () => {
      await payAndRefuseCapture();
      return applyNext();
    },
    messages: [],
  },
  {
    name: 'the release of a refused capture',
    prepare: async () => {
      await payAndRefuseCapture();
      await world.deliverReports();
      return job.capture;
    },
    messages: ['reverse'],
  },
  {
    name: 'the webhook of the release of a refused capture',
    prepare: async () => {
      await payAndRefuseCapture();
      await world.deliverReports();
      await job.capture();
      return applyNext();
    },
    messages: [],
  },
  {
    name: 'the decision to abandon a charge',
    prepare: async () => {
      await payWithLostResponse();
      world.processor.clock.advance(ABANDONED_AFTER_MS);
      return job.recover;
    },
    messages: [],
  },
  {
    name: 'a release',
    prepare: async () => {
      await payAndAbandon();
      return job.cleanup;
    },
    messages: ['reverse'],
  },
  {
    name: 'the webhook of a release',
    prepare: async () => {
      await payAndAbandon();
      await world.deliverReports();
      await job.cleanup();
      return applyNext();
    },
    messages: [],
  },
  {
    name: 'a refund',
    prepare: async () => requestRefund(await payAndCapture()),
    messages: ['refund'],
  },
  {
    name: 'a refund that is sent again',
    prepare: async () => {
      const payment = await payAndCapture();
      await driver.causeFault('refund', 'requestLost');
      await (
        await requestRefund(payment)
      )();
      return job.recoverRefunds;
    },
    messages: ['refund'],
  },
  {
    name: 'the webhook of a refund',
    prepare: async () => {
      await (
        await requestRefund(await payAndCapture())
      )();
      return applyNext();
    },
    messages: [],
  },
  {
    name: 'the webhook of a refund that fails after its success',
    prepare: async () => {
      const payment = await payAndCapture();
      await (
        await requestRefund(payment)
      )();
      await world.deliverReports();
      await driver.returnRefund(payment.paymentReference, 'failed');
      return applyNext();
    },
    messages: [],
  },
];

test.each(SCENARIOS)('$name', async ({ name, prepare, messages }) => {
  const steps = await crashes.record(await prepare());
  expect(steps.filter((step) => step.startsWith('message'))).toEqual(messages.map((message) => `message ${message}`));
  expect(steps.length).toBeGreaterThan(messages.length);
  for (const step of steps.keys())
    for (const when of ['before', 'after'] as const) {
      // Another process completes what earlier crashes left.
      await world.runJobsAfter(ABANDONED_AFTER_MS);
      await crashes.crashAt(step, when, await prepare());
    }
  await world.settle();
  await expectInvariants(world);
  process.stdout.write(`${name}: ${steps.length * 2} crashes: ${steps.join(', ')}\n`);
});
