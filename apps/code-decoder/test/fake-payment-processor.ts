import {
  ClosePayableV1,
  ERROR_CATALOGUE,
  type ErrorCode,
  FindPayableV1,
  type OpenPayable,
  OpenPayableV1,
  type PayableDescriptor,
  type PayableSnapshot,
  type PayableSource,
  type PayableState,
} from '@svc/contracts';
import type { EmbeddedBroker, ReplyEnvelope } from '@svc/messaging';

/** A fake payment-processor: keeps payables by the same rules, and records the commands. */
export interface FakePaymentProcessor {
  /** In the order in which they were opened. */
  readonly opened: readonly PayableDescriptor<PayableSource>[];
  stateOf(payableId: string): PayableState | undefined;
  /** Sets a state, as after a payment. */
  set(payableId: string, state: PayableState): PayableSnapshot;
  /** Adds a payable of another service, such as that of a hosted session. */
  add(payable: PayableDescriptor<PayableSource>, state: PayableState): void;
  /** Ids of the payables in FindPayable commands. */
  readonly queried: readonly string[];
  /** Stops responding to commands. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

interface FakePayable extends PayableSnapshot {
  readonly descriptor: PayableDescriptor<PayableSource>;
}

export async function startFakePaymentProcessor(broker: EmbeddedBroker): Promise<FakePaymentProcessor> {
  const payables = new Map<string, FakePayable>();
  const responders: { close(): Promise<void> }[] = [];

  const queried: string[] = [];

  const close = (payable: PayableDescriptor<PayableSource>): PayableSnapshot | ErrorCode => {
    const current = payables.get(payable.payableId) ?? put(payable, 'open', 1);
    if (current.state === 'reserved') return 'payment.in-progress';
    if (current.state === 'paid') return 'payable.paid';
    return current.state === 'open' ? put(payable, 'closed', current.version + 1) : snapshotOf(current);
  };
  const put = (descriptor: PayableDescriptor<PayableSource>, state: PayableState, version: number): FakePayable => {
    const entry = { payableId: descriptor.payableId, state, version, tries: 0, descriptor };
    payables.set(descriptor.payableId, entry);
    return entry;
  };
  const onOpen = ({ payable, replaces }: OpenPayable): ReplyEnvelope => {
    const replaced = replaces && close(replaces);
    if (typeof replaced === 'string') return rejected(replaced);
    const opened = snapshotOf(payables.get(payable.payableId) ?? put(payable, 'open', 1));
    return { ok: true, reply: { opened, ...(replaced ? { replaced: snapshotOf(replaced) } : {}) } };
  };
  const onClose = ({ payable }: { payable: PayableDescriptor<PayableSource> }): ReplyEnvelope => {
    const closed = close(payable);
    return typeof closed === 'string' ? rejected(closed) : { ok: true, reply: snapshotOf(closed) };
  };
  const onFind = ({ payableId }: { payableId: string }): ReplyEnvelope => {
    queried.push(payableId);
    const found = payables.get(payableId);
    return { ok: true, reply: found ? { payable: snapshotOf(found) } : {} };
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
    add: (payable, state) => void put(payable, state, 2),
    get opened() {
      return [...payables.values()].map(({ descriptor }) => descriptor);
    },
    stateOf: (payableId) => payables.get(payableId)?.state,
    set: (payableId, state) => {
      const current = payables.get(payableId)!;
      return snapshotOf(put(current.descriptor, state, current.version + 1));
    },
    stop: async () => {
      await Promise.all(responders.splice(0).map((subscription) => subscription.close()));
    },
    start,
  };
}

function snapshotOf({ payableId, state, version, tries }: PayableSnapshot): PayableSnapshot {
  return { payableId, state, version, tries };
}

function rejected(code: ErrorCode): ReplyEnvelope {
  return { ok: false, code, message: ERROR_CATALOGUE[code].message, fields: [], retryAfterSeconds: 2 };
}
