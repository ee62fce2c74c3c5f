import {
  ClosePayableV1,
  type ErrorCode,
  ERROR_CATALOGUE,
  FindPayableV1,
  type OpenPayable,
  OpenPayableV1,
  type PayableDescriptor,
  type PayableSnapshot,
  type PayableSource,
  type PayableState,
} from '@svc/contracts';
import type { EmbeddedBroker, ReplyEnvelope } from '@svc/messaging';

/** Stands in for payment-processor: keeps payables by its rules, and shows what it was told. */
export interface Payables {
  /** In the order in which they were opened. */
  readonly opened: readonly PayableDescriptor<PayableSource>[];
  stateOf(payableId: string): PayableState | undefined;
  /** As a payer, or the outcome of a payment, would leave it. */
  set(payableId: string, state: PayableState): PayableSnapshot;
  /** A payable that it knows from another service, such as a hosted session's. */
  keep(payable: PayableDescriptor<PayableSource>, state: PayableState): void;
  /** Payables that it was asked about. */
  readonly asked: readonly string[];
  /** It is down: nobody answers. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
}

interface Kept extends PayableSnapshot {
  readonly descriptor: PayableDescriptor<PayableSource>;
}

export async function standInForPaymentProcessor(broker: EmbeddedBroker): Promise<Payables> {
  const kept = new Map<string, Kept>();
  const answering: { close(): Promise<void> }[] = [];

  const asked: string[] = [];

  const close = (payable: PayableDescriptor<PayableSource>): PayableSnapshot | ErrorCode => {
    const standing = kept.get(payable.payableId) ?? put(payable, 'open', 1);
    if (standing.state === 'reserved') return 'payment.in-progress';
    if (standing.state === 'paid') return 'payable.paid';
    return standing.state === 'open' ? put(payable, 'closed', standing.version + 1) : snapshotOf(standing);
  };
  const put = (descriptor: PayableDescriptor<PayableSource>, state: PayableState, version: number): Kept => {
    const entry = { payableId: descriptor.payableId, state, version, tries: 0, descriptor };
    kept.set(descriptor.payableId, entry);
    return entry;
  };
  const onOpen = ({ payable, replaces }: OpenPayable): ReplyEnvelope => {
    const replaced = replaces && close(replaces);
    if (typeof replaced === 'string') return refused(replaced);
    const opened = snapshotOf(kept.get(payable.payableId) ?? put(payable, 'open', 1));
    return { ok: true, reply: { opened, ...(replaced ? { replaced: snapshotOf(replaced) } : {}) } };
  };
  const onClose = ({ payable }: { payable: PayableDescriptor<PayableSource> }): ReplyEnvelope => {
    const closed = close(payable);
    return typeof closed === 'string' ? refused(closed) : { ok: true, reply: snapshotOf(closed) };
  };
  const onFind = ({ payableId }: { payableId: string }): ReplyEnvelope => {
    asked.push(payableId);
    const found = kept.get(payableId);
    return { ok: true, reply: found ? { payable: snapshotOf(found) } : {} };
  };
  const comeBack = async (): Promise<void> => {
    answering.push(
      await broker.respond(OpenPayableV1.name, (command) => Promise.resolve(onOpen(command as OpenPayable))),
      await broker.respond(ClosePayableV1.name, (command) => Promise.resolve(onClose(command as OpenPayable))),
      await broker.respond(FindPayableV1.name, (command) => Promise.resolve(onFind(command as { payableId: string }))),
    );
  };
  await comeBack();
  return {
    asked,
    keep: (payable, state) => void put(payable, state, 2),
    get opened() {
      return [...kept.values()].map(({ descriptor }) => descriptor);
    },
    stateOf: (payableId) => kept.get(payableId)?.state,
    set: (payableId, state) => {
      const standing = kept.get(payableId)!;
      return snapshotOf(put(standing.descriptor, state, standing.version + 1));
    },
    goAway: async () => {
      await Promise.all(answering.splice(0).map((subscription) => subscription.close()));
    },
    comeBack,
  };
}

function snapshotOf({ payableId, state, version, tries }: PayableSnapshot): PayableSnapshot {
  return { payableId, state, version, tries };
}

function refused(code: ErrorCode): ReplyEnvelope {
  return { ok: false, code, message: ERROR_CATALOGUE[code].message, fields: [], retryAfterSeconds: 2 };
}
