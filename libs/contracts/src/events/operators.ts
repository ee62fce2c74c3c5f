import type { OperatorRole } from '../people/operators.js';
import { eventType } from './envelope.js';

/** A key of an operator for the administration API, as a hash (A10). Published by identity. */
export interface OperatorKeyChanged {
  /** @schema uuid */
  keyId: string;
  /**
   * The operator, for the audit log.
   * @schema uuid
   */
  personId: string;
  role: OperatorRole;
  /** Lower-case hex SHA-256 of the whole key. */
  hash: string;
  /** ISO 8601 UTC with milliseconds (C2). From then on the key is refused. */
  expiresUTCDate: string;
  revoked: boolean;
}
export const OperatorKeyChangedV1 = eventType<OperatorKeyChanged>('operator-key.changed.v1');
