import { Inject, Injectable } from '@nestjs/common';
import type { OperatorRole } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { hashApiKey } from '../api-keys/api-key.js';
import { hasOperatorKeyFormat } from './operator-key.js';

/** A valid key of an operator. */
export interface OperatorKey {
  /** UUID of the operator. */
  readonly personId: string;
  readonly role: OperatorRole;
}

/**
 * Finds the keys of operators that the service identity has published. Each request queries the table, so that a revoked
 * key is rejected as soon as this service has received the event of the revocation.
 */
@Injectable()
export class OperatorKeys {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Undefined for a key that is unknown, revoked or expired. */
  async find(key: string): Promise<OperatorKey | undefined> {
    if (!hasOperatorKeyFormat(key)) return undefined;
    const [row] = await this.dataSource.query<OperatorKey[]>(
      `SELECT person_id AS "personId", role FROM known_operator_keys
        WHERE hash = $1 AND NOT revoked AND expires_at > $2`,
      [hashApiKey(key), this.clock.now()],
    );
    return row;
  }

  /**
   * Whether a key that may change something was ever created. From then on the shared key is refused. Rows are never
   * deleted, so this stays true when the key has expired or was revoked.
   */
  async hasEndedSharedKey(): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>(
      `SELECT 1 FROM known_operator_keys WHERE role = 'operator' LIMIT 1`,
    );
    return rows.length > 0;
  }
}
