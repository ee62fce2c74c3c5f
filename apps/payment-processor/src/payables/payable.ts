import type { PayableState } from '@svc/contracts';

/**
 * A payable: a debt that can be paid once, whoever wins `open → reserved` first. A failed payment frees it again or,
 * after the last try, refuses it; closing needs it to be free. A payment that waits for a verification holds nothing,
 * so the last try can also be refused while the payable is free. The conditional UPDATEs of this app take exactly
 * these steps, and a model-based test holds them against this list.
 */
export const PAYABLE_TRANSITIONS = {
  open: ['reserved', 'closed', 'refused'],
  reserved: ['paid', 'open', 'refused'],
  paid: [],
  refused: [],
  closed: [],
} as const satisfies Record<PayableState, readonly PayableState[]>;
