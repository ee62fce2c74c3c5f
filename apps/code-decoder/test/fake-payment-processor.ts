import {
  ClosePayableV1,
  ERROR_CATALOGUE,
  type ErrorCode,
  FindPayableV1,
  type OpenPayable,
  OpenPayableV1,
  type PayableDescriptor,
  type PayableSnapshot,
  type PayableState,
} from '@svc/contracts';
import type { EmbeddedBroker, ReplyEnvelope } from '@svc/messaging';

/**
 * A fake payment-processor. It opens and closes payables by the rules of the real service, and records the commands.
 */
export interface FakePaymentProcessor {
  /** Payables in the order in which they were opened. */
  readonly opened: readonly PayableDescriptor[];
  getState(payableId: string): PayableState | undefined;
  /** Sets the state of a payable, as a payment does. */
  set(payableId: string, state: PayableState): PayableSnapshot;
  /** Adds a payable of another service, such as the payable of a hosted session. */
  add(payable: PayableDescriptor, state: PayableState): void;
  /** Payable ids of the FindPayable commands that were received. */
  readonly queried: readonly string[];
  /** Stops responding to commands. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** A payable with its current state. */
interface FakePayable extends PayableSnapshot {
  readonly descriptor: PayableDescriptor;
}

export async function startFakePaymentProcessor(broker: EmbeddedBroker): Promise<FakePaymentProcessor> {
  const payables = new Map<string, FakePayable>();
  const responders: { close(): Promise<void> }[] = [];

  const queried: string[] = [];

  const close = (payable: PayableDescriptor): PayableSnapshot | ErrorCode => {
    const current = payables.get(payable.payableId) ?? store(payable, 'open', 1);
    if (current.state === 'reserved') return 'payment.in-progress';
    if (current.state === 'paid') return 'payable.paid';
    return current.state === 'open' ? store(payable, 'closed', current.version + 1) : copySnapshot(current);
  };
  const store = (descriptor: PayableDescriptor, state: PayableState, version: number): FakePayable => {
    const entry = { payableId: descriptor.payableId, state, version, paymentCount: 0, descriptor };
    payables.set(descriptor.payableId, entry);
    return entry;
  };
  const onOpen = ({ payable, replaces }: OpenPayable): ReplyEnvelope => {
    const replaced = replaces && close(replaces);
    if (typeof replaced === 'string') return rejectWith(replaced);
    const opened = copySnapshot(payables.get(payable.payableId) ?? store(payable, 'open', 1));
    return { ok: true, reply: { opened, ...(replaced ? { replaced: copySnapshot(replaced) } : {}) } };
  };
  const onClose = ({ payable }: { payable: PayableDescriptor }): ReplyEnvelope => {
    const closed = close(payable);
    return typeof closed === 'string' ? rejectWith(closed) : { ok: true, reply: copySnapshot(closed) };
  };
  const onFind = ({ payableId }: { payableId: string }): ReplyEnvelope => {
    queried.push(payableId);
    const found = payables.get(payableId);
    return { ok: true, reply: found ? { payable: copySnapshot(found) } : {} };
  };
  const start = async (): Promise<void> => {
    responders.push(
      await broker.respond(OpenPayableV1.name, (command) => Promise.resolve(onOpen(command as OpenPayable))),
      await broker.respond(ClosePayableV1.name, (command) => Promise.resolve(onClose(command as OpenPayable))),
      await broker.respond(FindPayableV1.name, (command) => Promise.resolve(onFind(command as { payableId: string }))),
    );
  };
  await start();
  return {
    queried,
    add: (payable, state) => void store(payable, state, 2),
    get opened() {
      return [...payables.values()].map(({ descriptor }) => descriptor);
    },
    getState: (payableId) => payables.get(payableId)?.state,
    set: (payableId, state) => {
      const current = payables.get(payableId)!;
      return copySnapshot(store(current.descriptor, state, current.version + 1));
    },
    stop: async () => {
      await Promise.all(responders.splice(0).map((subscription) => subscription.close()));
    },
    start,
  };
}

function copySnapshot({ payableId, state, version, paymentCount }: PayableSnapshot): PayableSnapshot {
  return { payableId, state, version, paymentCount };
}

function rejectWith(code: ErrorCode): ReplyEnvelope {
  return { ok: false, code, message: ERROR_CATALOGUE[code].message, fields: [], retryAfterSeconds: 2 };
}
