import { Body, Controller, Delete, Get, Header, HttpCode, Inject, Param, Post, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, Author, type ChangeAuthor } from '@svc/auth';
import { Clock } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { uuidId } from '../../path-ids.js';
import { ChangeOperatorKeys } from './change-operator-keys.js';
import { type OperatorKeyView, toOperatorKeyView } from './operator-key.js';
import { listOperatorKeys } from './operator-key.repository.js';
import { CreateOperatorKeyRequest } from './operator-keys.requests.js';

interface CreatedOperatorKey {
  /** @schema uuid */
  readonly keyId: string;
  /** The key, for the header `x-admin-key`. It is shown only once. */
  readonly operatorKey: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly expiresUTCDate: string;
}

/**
 * Keys of operators for the administration API. A key of a viewer reads, a key of an operator also changes, and the audit
 * log names the person. Requires `x-admin-key`. Errors are RFC 9457 (C5).
 */
@Controller('admin/v1/operator-keys')
@UseGuards(AdminKeyGuard)
export class OperatorKeysController {
  constructor(
    @Inject(ChangeOperatorKeys) private readonly changeKeys: ChangeOperatorKeys,
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Creates a key for one operator, who has set up a second factor. After the first key with the role operator, all
   * services refuse the shared administration key.
   *
   * @returns 201 The key.
   * @throws resource.not-found No operator has the email.
   * @throws resource.conflict The operator has a lower role, no second factor, or five valid keys.
   */
  @Post()
  @Header('cache-control', 'no-store')
  async create(@Author() author: ChangeAuthor, @Body() request: CreateOperatorKeyRequest): Promise<CreatedOperatorKey> {
    const { keyId, key, expiresAt } = await this.changeKeys.execute(author, request);
    return { keyId, operatorKey: key, expiresUTCDate: expiresAt.toISOString() };
  }

  /** Lists the 200 newest keys, without the keys themselves, including those that have ended. */
  @Get()
  async list(): Promise<{ operatorKeys: OperatorKeyView[] }> {
    const keys = await listOperatorKeys(this.dataSource.manager);
    return { operatorKeys: keys.map((key) => toOperatorKeyView(key, this.clock.now())) };
  }

  /**
   * Revokes a key. All services refuse it within 5 s.
   *
   * @throws resource.not-found
   */
  @Delete(':keyId')
  @HttpCode(204)
  async revoke(@Author() author: ChangeAuthor, @Param('keyId', uuidId) keyId: string): Promise<void> {
    await this.changeKeys.revoke(author, keyId);
  }
}
